// Reads flow files, and the files with their test cases.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { type CheckSchema, describeFileProblems, type FileProblem } from '../../api/flows/file-problems.ts';
import { type FlowFileFormat, parseUsableDraftFile, toYaml } from '../../api/flows/flow-file.ts';
import { findNonJson, parseText } from '../../api/flows/parse-text.ts';
import { testCaseRequest } from '../../api/test-cases/test-case-fields.ts';
import { ServiceError } from '../../flow/errors.ts';
import { FLOW_FILES_MAX } from '../../flow/limits.ts';
import { formatPath, type PathSegment } from '../../flow/step-path.ts';
import { TEST_CASES_MAX } from '../../flow/test-case.ts';
import type { Validator } from '../../platform/json-schema/validator.ts';
import { readSource } from '../terminal/files.ts';
import { UsageError } from '../terminal/parse-argument.ts';
import { contentOf, type FlowContent, type TestCase } from './flow-content.ts';

const testCases = z.array(testCaseRequest).max(TEST_CASES_MAX);

/** A flow as its file has it; `missing` is what keeps it from being published, `notes` what works badly. */
export type LocalFlow = {
  file: string;
  flow: FlowContent;
  missing: FileProblem[];
  notes: FileProblem[];
  tests?: TestCase[];
};

/** A file that is no flow file, or that has the slug of another; `problems` are those of its flow. */
export type RefusedFile = { file: string; message: string; problems: FileProblem[] };

/**
 * Reads flow files, and those in folders, with the test cases beside them. Throws VALIDATION_ERROR with the problems of all
 * files, and when two files are of the same flow.
 */
export async function readFlowFiles(sources: string[]): Promise<LocalFlow[]> {
  const { flows, refused } = await inspectFlowFiles(sources);
  const problems = refused.map(({ file, message }) =>
    message.startsWith(file) ? message : `${file}:\n${message}`,
  );
  if (problems.length > 0) throw new ServiceError('VALIDATION_ERROR', problems.join('\n'));
  return flows;
}

/** Reads flow files as `readFlowFiles` does, but returns the files with problems, too. */
export async function inspectFlowFiles(
  sources: string[],
): Promise<{ flows: LocalFlow[]; refused: RefusedFile[] }> {
  const files = (await Promise.all(sources.map(listFlowFiles))).flat();
  if (files.length === 0) throw new UsageError(`No flow file found in ${sources.join(', ')}.`);
  const flows: LocalFlow[] = [];
  const refused: RefusedFile[] = [];
  await withSchemaCheck(async (check) => {
    for (const file of new Set(files))
      await readFlowFile(file, check).then(
        (flow) => flows.push(flow),
        (error: unknown) => {
          if (!(error instanceof ServiceError)) throw error;
          const { message, extra } = error;
          refused.push({
            file,
            message,
            problems: (extra.problems as FileProblem[]) ?? [{ path: '', message }],
          });
        },
      );
  });
  for (const { file, flow } of flows) {
    const first = flows.find((other) => other.flow.slug === flow.slug);
    if (!first || first.file === file) continue;
    const message = `It has the slug of ${first.file}: ${flow.slug}.`;
    refused.push({ file, message, problems: [{ path: 'slug', message }] });
  }
  return { flows, refused };
}

/**
 * Lists the flow files in a folder and its subfolders. The path of a file lists only this file. Links and special files are
 * skipped. Throws UsageError for too many files.
 */
export async function listFlowFiles(source: string): Promise<string[]> {
  const found = await stat(source).catch(() => undefined);
  if (!found?.isDirectory()) return [source];
  const files: string[] = [];
  for await (const file of filesIn(source)) {
    files.push(file);
    if (files.length > FLOW_FILES_MAX)
      throw new UsageError(`${source} has over ${FLOW_FILES_MAX} flow files: give a smaller folder.`);
  }
  return files.sort();
}

async function* filesIn(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const { name } = entry;
    if (name.startsWith('.') || name === 'node_modules') continue;
    const place = path.join(folder, name);
    if (entry.isDirectory()) yield* filesIn(place);
    else if (entry.isFile() && /\.(ya?ml|json)$/i.test(name) && !isTestCasesFile(name)) yield place;
  }
}

/** Lends `work` a check of JSON Schemas, whose packages and threads are there from the first schema on. */
async function withSchemaCheck(work: (check: CheckSchema) => Promise<void>): Promise<void> {
  let validator: Validator | undefined;
  try {
    await work(async (schema) => {
      validator ??= (await import('../../platform/json-schema/validator.ts')).createValidator();
      await validator.of('files').requireValidSchema(schema);
    });
  } finally {
    await validator?.close();
  }
}

async function readFlowFile(file: string, check: CheckSchema): Promise<LocalFlow> {
  const { file: flow, ...found } = await parseUsableDraftFile(await readSource(file), formatOf(file), check);
  const tests = await readTestCases(file);
  return { file, flow, ...found, ...(tests && { tests }) };
}

/** Reads the test cases beside a flow file; undefined without a file of test cases. */
async function readTestCases(file: string): Promise<TestCase[] | undefined> {
  const beside = testCasesFile(file);
  const found = await stat(beside).catch(() => undefined);
  if (!found) return undefined;
  if (!found.isFile()) throw new ServiceError('VALIDATION_ERROR', `${beside} is not a file.`);
  const text = await readSource(beside);
  try {
    return parseTestCases(text);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(error.code, `${beside}: ${error.message}`);
  }
}

export function formatOf(file: string): FlowFileFormat {
  return file.toLowerCase().endsWith('.json') ? 'json' : 'yaml';
}

// Files with the test cases of a flow, beside the flow's own: hello.tests.yaml beside hello.yaml.

/** Names the file of the test cases that belong to a flow file. */
export function testCasesFile(file: string): string {
  return `${file.replace(/\.(ya?ml|json)$/i, '')}.tests.yaml`;
}

function isTestCasesFile(file: string): boolean {
  return /\.tests\.ya?ml$/i.test(file);
}

/** Parses a list of test cases. Throws VALIDATION_ERROR with all problems, by line. */
export function parseTestCases(text: string): TestCase[] {
  const { value, problems, lineOf } = parseText(text, 'yaml');
  const found = [...problems, ...findNonJson(value)];
  const { data, error } = testCases.safeParse(value);
  for (const { path, message } of error?.issues ?? []) found.push({ path: path as PathSegment[], message });
  if (data && found.length === 0) found.push(...findTwins(data));
  if (data && found.length === 0) return data as TestCase[];
  throw describeFileProblems(
    'VALIDATION_ERROR',
    found.map(({ path, message, line = lineOf(path) }) => ({ path: formatPath(path), message, line })),
  );
}

function findTwins(tests: { name: string }[]) {
  const names = tests.map(({ name }) => name);
  return names.flatMap((name, at) =>
    names.indexOf(name) < at ? [{ path: [at, 'name'], message: 'Another case has this name.' }] : [],
  );
}

/** Writes test cases as a file that `parseTestCases` reads as the same cases. */
export function formatTestCases(tests: TestCase[]): string {
  const written = tests.map((test) => {
    const { parameters, ...content } = contentOf(test);
    return Object.keys(test.parameters ?? {}).length > 0 ? contentOf(test) : content;
  });
  return toYaml(written);
}

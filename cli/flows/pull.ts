// `weir flow pull`: writes a flow into a file, and its test cases into the file beside it.
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { formatFlowFile } from '../../api/flows/flow-file.ts';
import { ServiceError } from '../../flow/errors.ts';
import { SLUG_PATTERN } from '../../flow/limits.ts';
import { listAll } from '../api/call-api.ts';
import { type Flow, getFlow, getProject } from '../api/get-resource.ts';
import { writeText } from '../terminal/files.ts';
import { UsageError } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print.ts';
import {
  describeChanges,
  type FlowContent,
  findFlowChanges,
  findTestChanges,
  isSameFlow,
  isSameTests,
  type TestCase,
} from './flow-content.ts';
import {
  formatOf,
  formatTestCases,
  type LocalFlow,
  listFlowFiles,
  readFlowFiles,
  testCasesFile,
} from './flow-files.ts';
import { remember } from './past-texts.ts';
import { hasHeldFlow, hasHeldTests, placeOf } from './push-plan.ts';
import { flowsUrl, readDraft, readSide, readTestCases } from './service-flow.ts';

export type PullOptions = { version?: number | undefined; force?: boolean | undefined };

/** Writes the draft or a version to a file; `-` prints it. Does not overwrite a file with unsaved content. */
export async function pull(
  path: string,
  file: string | undefined,
  { version, force }: PullOptions,
): Promise<CommandResult> {
  const flow = await getFlow(path);
  const content = await readSide(flow, version ?? 'draft');
  if (file === '-') return { json: content, text: formatFlowFile(content, 'yaml') };
  return writeFlow(flow, path, content, file ?? `${flow.slug}.yaml`, { version, force });
}

/** Writes `content`, the draft or a version of a flow, into a file; with a draft also its test cases. */
async function writeFlow(
  flow: Flow,
  path: string,
  content: FlowContent,
  target: string,
  { version, force }: PullOptions,
): Promise<CommandResult> {
  const tests = version === undefined ? await readTestCases(flow) : undefined;
  const local = await readLocal(target, force === true);
  if (local && !force) await requireKept(path, local, content, tests);
  await write(
    target,
    path,
    local && isSameFlow(local.flow, content),
    formatFlowFile(content, formatOf(target)),
  );
  if (tests && (tests.length > 0 || local?.tests)) {
    const isSame = local?.tests && isSameTests(local.tests, tests);
    await write(testCasesFile(target), path, isSame, formatTestCases(tests));
  }
  const what = version === undefined ? path : `version ${version} of ${path}`;
  const count =
    tests && tests.length > 0
      ? `, with ${tests.length} test ${tests.length === 1 ? 'case' : 'cases'} in ${testCasesFile(target)}`
      : '';
  return {
    json: { flow: path, file: target, version: version ?? null, testCases: tests?.length ?? null },
    text: `${target} holds ${what}${count}.`,
  };
}

/** Reads the file that is to be replaced; undefined when there is none, or it need not be understood. A folder is none. */
async function readLocal(file: string, force: boolean): Promise<LocalFlow | undefined> {
  if (!(await stat(file).catch(() => undefined))?.isFile()) return undefined;
  const reading = readFlowFiles([file]).then(([local]) => local);
  return force ? reading.catch(() => undefined) : reading;
}

/** Throws CONFLICT when the file, or that of the test cases, holds what was never pushed nor committed. */
async function requireKept(
  path: string,
  { file, flow, tests: localTests }: LocalFlow,
  content: FlowContent,
  tests: TestCase[] | undefined,
): Promise<void> {
  const losesFlow = !isSameFlow(flow, content) && !(await hasHeldFlow(file, path, flow));
  const losesTests =
    tests !== undefined &&
    localTests !== undefined &&
    !isSameTests(localTests, tests) &&
    !(await hasHeldTests(file, path, localTests));
  if (!losesFlow && !losesTests) return;
  const changes = [
    ...(losesFlow ? findFlowChanges(flow, content) : []),
    ...(losesTests ? findTestChanges(localTests, tests) : []),
  ];
  throw new ServiceError(
    'CONFLICT',
    `${file} has edits that were neither pushed nor committed. A pull would change:\n${describeChanges(changes)}\nNothing was written. Commit or copy the file first; --force replaces it.`,
  );
}

/** Leaves a file as it is, comments and all, where it says the same already. */
async function write(file: string, path: string, isSame: boolean | undefined, text: string): Promise<void> {
  if (!isSame) await writeText(file, text);
  await remember(file, placeOf(path), text);
}

/** Writes the drafts of all flows of a project into a folder: each into the file that has its slug, else a new one. */
export async function pullProject(
  project: string,
  folder: string | undefined,
  options: PullOptions,
): Promise<CommandResult> {
  if (options.version !== undefined) throw new UsageError('--version is of one flow: give its path.');
  if (folder === undefined) throw new UsageError('Give the folder to write the flows of the project into.');
  const flows = await listAll<Flow>(flowsUrl((await getProject(project)).id), 'flows');
  flows.forEach(requireSlug);
  await mkdir(folder, { recursive: true });
  const isEmpty = (await stat(folder)).isDirectory() && (await listFlowFiles(folder)).length === 0;
  const locals = isEmpty ? [] : await readFlowFiles([folder]);
  const written = [];
  for (const flow of flows) {
    const known = locals.find((local) => local.flow.slug === flow.slug)?.file;
    const { content } = await readDraft(flow);
    const file = known ?? path.join(folder, `${flow.slug}.yaml`);
    written.push(await writeFlow(flow, `${project}/${flow.slug}`, content, file, options));
  }
  return {
    json: written.map(({ json }) => json),
    text: written.map(({ text }) => text).join('\n') || `${project} has no flows.`,
  };
}

/** Throws VALIDATION_ERROR for a slug that is not valid: as the name of a file it could be a path out of the folder. */
function requireSlug({ slug }: Flow): void {
  if (SLUG_PATTERN.test(slug)) return;
  throw new ServiceError(
    'VALIDATION_ERROR',
    `The service lists a flow whose slug ${JSON.stringify(slug)} is not valid, so nothing was written. Check WEIR_URL.`,
  );
}

/** Pulls a flow, or all flows of a project. */
export function pullPath(
  path: string,
  target: string | undefined,
  options: PullOptions,
): Promise<CommandResult> {
  return path.split('/').length === 2 ? pullProject(path, target, options) : pull(path, target, options);
}

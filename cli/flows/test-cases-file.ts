// Files with the test cases of a flow, beside the flow's own: hello.tests.yaml beside hello.yaml.
import { stringify } from 'yaml';
import { z } from 'zod';
import { describeFileProblems } from '../../api/flows/describe-file-problems.ts';
import { findNonJson, parseText } from '../../api/flows/parse-text.ts';
import { testCaseRequest } from '../../api/test-cases/test-case-schemas.ts';
import { formatPath, type PathSegment } from '../../flow/step-path.ts';
import { TEST_CASES_MAX } from '../../flow/test-case.ts';
import type { TestCase } from './flow-content.ts';

const testCases = z.array(testCaseRequest).max(TEST_CASES_MAX);

/** Names the file of the test cases that belong to a flow file. */
export function testCasesFile(file: string): string {
  return `${file.replace(/\.(ya?ml|json)$/i, '')}.tests.yaml`;
}

/** Tells whether a file has the name of one with test cases. */
export function isTestCasesFile(file: string): boolean {
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
  const written = tests.map(({ name, message, parameters = {}, expectation }) => ({
    name,
    message,
    ...(Object.keys(parameters).length > 0 && { parameters }),
    expectation,
  }));
  return stringify(written, { lineWidth: 0, aliasDuplicateObjects: false });
}

import type { TestCaseRow } from '../../db/test-runs/test-cases.ts';
import { etagOf } from '../http/etag.ts';

/** Computes the strong ETag of a stored test case. */
export function testCaseETag({
  name,
  input,
  expectation,
}: Pick<TestCaseRow, 'name' | 'input' | 'expectation'>): string {
  return etagOf(JSON.stringify([name, input, expectation]));
}

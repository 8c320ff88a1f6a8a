import { callApi } from '../api/call-api.ts';
import type { Flow } from '../api/get-by-path.ts';
import type { PushPlan } from './push-plan.ts';
import { urlOf } from './service-flow.ts';

/**
 * Creates, replaces and deletes test cases until they are those of the file. Unless `force`, throws PRECONDITION_FAILED or
 * NOT_FOUND where a case is no longer the one that was compared.
 */
export async function pushTestCases(
  flow: Flow,
  { local, tests, testChanges }: PushPlan,
  force: boolean,
): Promise<void> {
  if (!local.tests || testChanges.length === 0) return;
  const url = `${urlOf(flow)}/test-cases`;
  const changed = new Set(testChanges.map(({ from, to }) => ((to ?? from) as { name: string }).name));
  for (const body of local.tests.filter(({ name }) => changed.has(name))) {
    const saved = tests.find(({ name }) => name === body.name);
    if (force) await callApi('POST', url, { body });
    else if (!saved) await callApi('POST', url, { body, headers: { 'if-none-match': '*' } });
    else await callApi('PUT', `${url}/${saved.test_case_id}`, { body, headers: { 'if-match': saved.etag } });
  }
  const kept = new Set(local.tests.map(({ name }) => name));
  for (const { test_case_id, name, etag } of tests)
    if (!kept.has(name))
      await callApi('DELETE', `${url}/${test_case_id}`, { headers: { 'if-match': force ? '*' : etag } });
}

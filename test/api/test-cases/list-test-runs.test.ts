// The history of a flow's tests over HTTP.

import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { updateDraft } from '../../../db/flows/flows.ts';
import { code } from '../../blocks.ts';
import type { Weir } from '../../harness.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { waitUntil } from '../../wait-until.ts';

type Row = { test_run_id: string; name: string };

describe('the test runs of a flow', () => {
  let weir: Weir;
  let flow: string;
  let flowId: string;
  let key: string;
  let keyId: string;
  before(async () => {
    weir = await getSharedWeir();
  });
  beforeEach(async () => {
    const { projectId } = await weir.createTenant();
    ({ key, keyId } = await createScopedKey(weir, projectId, 'deploy', 'read'));
    const flows = `/projects/${projectId}/flows`;
    flowId = (await call('POST', flows, { name: 'Echo', slug: 'echo' })).id;
    flow = `${flows}/${flowId}`;
    await updateDraft(weir.db, flowId, { steps: [code('echo', 'return message;')] });
    for (const name of ['a', 'b'])
      await call('POST', `${flow}/test-cases`, {
        name,
        message: name,
        expectation: { type: 'equals', value: 'a' },
      });
  });
  after(() => weir.stop());

  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await weir.call(method, path, { key, body });
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  /** Runs tests to their end. */
  const test = async (which: object = {}): Promise<string> => {
    const { test_run_id: id } = await call('POST', `${flow}/test-runs`, which);
    await waitUntil(async () => (await call('GET', `${flow}/test-runs/${id}`)).status !== 'started');
    return id;
  };

  it('are listed newest first, in pages, with who started them and what came of their cases', async () => {
    const ids = [await test(), await test(), await test()];
    const listed: Row[] = [];
    for (let query = '?limit=2'; query !== ''; ) {
      const { test_runs, hasMore, nextCursor } = await call('GET', `${flow}/test-runs${query}`);
      listed.push(...test_runs);
      query = hasMore ? `?limit=2&cursor=${nextCursor}` : '';
    }
    assert.deepEqual(
      listed.map(({ test_run_id }) => test_run_id),
      ids.toReversed(),
    );
    const { started_at, finished_at, ...first } = listed[0] as Row & { [time: string]: string };
    assert.ok(Date.parse(started_at as string) <= Date.parse(finished_at as string));
    assert.deepEqual(first, {
      test_run_id: ids[2],
      flow_id: flowId,
      status: 'completed',
      version: 0,
      ...{ total: 2, passed: 1, failed: 1, errors: 0, pending: 0, cost: 0 },
      started_by: `api_key/${keyId}`,
    });
  });

  it('have an ETag, which changes with them; a cursor of another list is 422', async () => {
    await test();
    const get = (path: string, headers = {}) => weir.call('GET', flow + path, { key, headers });
    for (const path of ['/test-runs', '/test-cases']) {
      const etag = (await get(path)).headers.get('etag') ?? '';
      assert.equal((await get(path, { 'if-none-match': etag })).status, 304, path);
      await test();
      assert.equal((await get(path, { 'if-none-match': etag })).status, 200, path);
    }
    for (const cursor of ['x', '00000000-0000-4000-8000-000000000000'])
      assert.equal((await get(`/test-runs?cursor=${cursor}`)).status, 422, cursor);
  });

  it('leave each case its last result, until that is deleted', async () => {
    const cases = async () => (await call('GET', `${flow}/test-cases`)).test_cases;
    assert.deepEqual(
      (await cases()).map(({ last_result }: { last_result: unknown }) => last_result),
      [null, null],
    );
    const all = await test();
    const [a] = await cases();
    const again = await test({ test_case_id: a.test_case_id });
    const [first, second] = (await cases()).map(({ last_result }: { last_result: Row }) => last_result);
    assert.deepEqual([first.test_run_id, first.status, first.why], [again, 'passed', null]);
    assert.deepEqual([second.test_run_id, second.status, typeof second.why], [all, 'failed', 'string']);
    const [result] = (await call('GET', `${flow}/test-runs/${again}`)).results;
    assert.deepEqual([first.flow_run_id, first.ms, first.cost], [result.flow_run_id, result.ms, result.cost]);
    await sql`delete from test_result where test_run_id = ${again}`.execute(weir.db);
    assert.equal((await cases())[0].last_result, null);
  });

  it('are those of the flow alone', async () => {
    await test();
    const { projectId } = await weir.createTenant();
    const other = await createScopedKey(weir, projectId, 'read');
    assert.equal((await weir.call('GET', `${flow}/test-runs`, { key: other.key })).status, 404);
  });
});

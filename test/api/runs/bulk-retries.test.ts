import assert from 'node:assert/strict';
import { inTransaction } from '../../../db/connect.ts';
import {
  BulkRetryCancelled,
  endBulkRequest,
  REFUSALS_MAX,
  requireBulkRetryGoesOn,
} from '../../../db/runs/bulk-retries.ts';
import { deleteOld } from '../../../db/upkeep/delete-old.ts';
import { code, llm } from '../../blocks.ts';
import { lockWaiters } from '../../db/lock-waiters.ts';
import { hang } from '../../fakes/model-server.ts';
import type { Tenant } from '../../harness.ts';
import { publishSteps } from '../../publish-steps.ts';
import { getSharedWeir } from '../../shared-weir.ts';

const UNKNOWN = '0199b0a0-6c1e-7b43-9f6c-3f3a1f0f8a11';

describe('…/projects/{project_id}/bulk-retries', () => {
  let weir: Awaited<ReturnType<typeof getSharedWeir>>;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await getSharedWeir();
  });
  beforeEach(async () => {
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [code('a', 'throw new Error("no");')]);
  });

  const path = (rest = '', { projectId } = tenant) => `/projects/${projectId}/bulk-retries${rest}`;
  const get = (rest?: string) => weir.call('GET', path(rest), { key: tenant.key });
  const cancel = (id: string) => weir.call('POST', path(`/${id}/cancel`), { key: tenant.key });
  const fail = async (count = 1) => {
    for (let i = 0; i < count; i++)
      await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm' } });
  };
  const retry = (body: object = {}) =>
    weir.call('POST', `/projects/${tenant.projectId}/runs/retry`, { key: tenant.key, body });
  const ids = (answer: { body: { retried: { executionId: string }[] } }) =>
    answer.body.retried.map(({ executionId }) => executionId);
  const finish = async (...answers: { body: { retried: { executionId: string }[] } }[]) => {
    for (const id of answers.flatMap(ids)) await weir.finish(flow, id, tenant.key);
  };

  it('has the filter, the progress and who began it, over all its requests', async () => {
    await fail(3);
    const filter = { flow: flow.split('/')[2], mode: 'execute' };
    const first = await retry({ ...filter, limit: 2 });
    const { bulk_id: id, nextCursor } = first.body;
    await finish(first);
    const { startedAt, ...begun } = (await get(`/${id}`)).body;
    assert.ok(Date.parse(startedAt));
    const expected = {
      bulk_id: id,
      startedBy: `api_key/${tenant.key.split('_')[2]}`,
      filter: { ...filter, on_version: 'original' },
      planned: 2,
      refused: 0,
      refusals: [],
      started: 2,
      running: 0,
      outcomes: { completed: 0, failed: 2, cancelled: 0, refused: 0 },
      stoppedBy: null,
      nextCursor,
      cancelledBy: null,
      cancelledAt: null,
    };
    assert.deepEqual(begun, expected);
    const second = await retry({ ...filter, limit: 2, cursor: nextCursor, bulk_id: id });
    await finish(second);
    assert.equal(second.body.bulk_id, id);
    const { body } = await get(`/${id}`);
    assert.deepEqual([body.planned, body.started, body.outcomes.failed, body.nextCursor], [3, 3, 3, null]);
  });

  it('is begun once for an Idempotency-Key, also when its runs have failed again', async () => {
    await fail(3);
    const send = (key: string, body: object = { limit: 2 }) =>
      weir.call('POST', `/projects/${tenant.projectId}/runs/retry`, {
        key: tenant.key,
        body,
        headers: { 'idempotency-key': key },
      });
    const answers = await Promise.all([send('a'), send('a'), send('a')]);
    const [first, ...others] = answers.map(({ body }) => body);
    assert.equal(first.retried.length, 2);
    for (const other of others) assert.deepEqual(other, first);
    assert.equal(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length, 2);
    await finish(...answers);
    await fail();
    assert.deepEqual((await send('a')).body, first);
    const { planned, started, refused } = (await get(`/${first.bulk_id}`)).body;
    assert.deepEqual([planned, started, refused], [2, 2, 0]);
    const reused = await send('a', { limit: 1 });
    assert.deepEqual([reused.status, reused.body.detail.code], [409, 'IDEMPOTENCY_KEY_REUSED']);
    const next = await send('b');
    assert.equal(next.body.retried.length, 2);
    assert.notEqual(next.body.bulk_id, first.bulk_id);
    await finish(next);
  });

  it('is named by its runs, and filters lists of runs together with outcome and id', async () => {
    await fail(2);
    const answer = await retry();
    await finish(answer);
    const { bulk_id: id } = answer.body;
    const [run = ''] = ids(answer);
    const state = await weir.call('GET', `${flow}/jobs/${run}`, { key: tenant.key });
    assert.equal(state.body.bulk_id, id);
    const list = async (query: string) => {
      const { body } = await weir.call('GET', `/projects/${tenant.projectId}/runs?${query}`, {
        key: tenant.key,
      });
      return body.runs.map(({ executionId }: { executionId: string }) => executionId).sort();
    };
    assert.deepEqual(await list(`bulk_id=${id}`), ids(answer).sort());
    assert.deepEqual(await list(`bulk_id=${id}&outcome=failed&id=${run}`), [run]);
    assert.deepEqual(await list(`bulk_id=${id}&outcome=completed`), []);
    assert.deepEqual(await list(`bulk_id=${UNKNOWN}`), []);
  });

  it('is listed, newest first, in pages', async () => {
    const begun: string[] = [];
    for (let i = 0; i < 3; i++) {
      await fail();
      const answer = await retry({ mode: 'execute', since: new Date(Date.now() - 60_000).toISOString() });
      await finish(answer);
      begun.unshift(answer.body.bulk_id);
    }
    const page = (await get('?limit=2')).body;
    const rest = (await get(`?limit=2&cursor=${page.nextCursor}`)).body;
    const listed = [page, rest].map(({ bulkRetries }) =>
      bulkRetries.map((bulk: { bulk_id: string }) => bulk.bulk_id),
    );
    assert.deepEqual(listed, [begun.slice(0, 2), begun.slice(2)]);
    assert.deepEqual([page.hasMore, rest.hasMore], [true, false]);
  });

  it('does not begin in a dry run, or without a run to retry', async () => {
    assert.equal((await retry()).body.bulk_id, null);
    await fail();
    assert.equal((await retry({ dryRun: true })).body.bulk_id, null);
    assert.deepEqual((await get()).body.bulkRetries, []);
  });

  it('keeps why runs were not retried', async () => {
    await fail();
    const { runs } = (await weir.call('GET', `${flow}/runs`, { key: tenant.key })).body;
    const { body } = await retry({ on_version: 7 });
    const { started, refused, refusals } = (await get(`/${body.bulk_id}`)).body;
    assert.deepEqual([started, refused], [0, 1]);
    assert.deepEqual(refusals, body.refused);
    assert.equal(refusals[0].executionId, runs[0].executionId);
    const more = Array.from({ length: REFUSALS_MAX }, () => body.refused[0]);
    await endBulkRequest(weir.db, body.bulk_id, { refused: more, stoppedBy: null, nextCursor: null });
    const { body: after } = await get(`/${body.bulk_id}`);
    assert.deepEqual([after.refused, after.refusals.length], [REFUSALS_MAX + 1, REFUSALS_MAX]);
  });

  it('says which error stopped it', async () => {
    await fail();
    await weir.db
      .updateTable('organization')
      .set({ balance_microcredits: 0 })
      .where('id', '=', tenant.organizationId)
      .execute();
    assert.equal((await retry()).status, 402);
    const [bulk] = (await get()).body.bulkRetries;
    assert.deepEqual([bulk.planned, bulk.started, bulk.stoppedBy], [1, 0, 'INSUFFICIENT_CREDITS']);
  });

  it('cancels its runs under way, starts no more, and may be cancelled again', async () => {
    await fail(2);
    await publishSteps(weir.db, tenant.projectId, flow, [llm('ask', 'x', 'demo/chat')]);
    weir.models.will(hang);
    const asked = weir.models.nextCall();
    const answer = await retry({ on_version: 'production', limit: 1 });
    await asked;
    const { bulk_id: id, nextCursor } = answer.body;
    assert.equal((await get(`/${id}`)).body.running, 1);
    const cancelled = await cancel(id);
    assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body));
    assert.ok(Date.parse(cancelled.body.cancelledAt));
    await finish(answer);
    assert.equal((await get(`/${id}`)).body.outcomes.cancelled, 1);
    const more = await retry({ on_version: 'production', cursor: nextCursor, bulk_id: id });
    assert.deepEqual([more.status, more.body.detail.code], [409, 'CONFLICT']);
    assert.match(more.body.detail.message, /was cancelled: start another one/);
    const again = await cancel(id);
    assert.deepEqual([again.body.cancelledAt, again.body.started], [cancelled.body.cancelledAt, 1]);
  });

  it('stores no run once it was cancelled, and cancels a run that was being stored', async () => {
    await fail();
    const begun = await retry();
    await finish(begun);
    const { bulk_id: id } = begun.body;
    const { request, cancelling } = await weir.db.transaction().execute(async (tx) => {
      const runs = tx.selectFrom('run').select('execution_id').where('project_id', '=', tenant.projectId);
      await runs.forUpdate().execute();
      const request = retry({ bulk_id: id });
      await lockWaiters(weir.db, 1);
      const cancelling = cancel(id);
      await lockWaiters(weir.db, 2);
      return { request, cancelling };
    });
    const answer = await request;
    assert.equal((await cancelling).body.started, 2);
    await finish(answer);
    await assert.rejects(
      inTransaction(weir.db, (tx) => requireBulkRetryGoesOn(tx, id)),
      BulkRetryCancelled,
    );
  });

  it('is continued and read in its own project alone', async () => {
    await fail();
    const { bulk_id: id } = (await retry()).body;
    const other = await weir.createTenant();
    for (const [method, rest] of [
      ['GET', `/${id}`],
      ['POST', `/${id}/cancel`],
      ['GET', '/no-id'],
    ] as const) {
      const answer = await weir.call(method, path(rest, other), { key: other.key });
      assert.deepEqual([answer.status, answer.body.detail.code], [404, 'NOT_FOUND'], rest);
    }
    const answer = await weir.call('POST', `/projects/${other.projectId}/runs/retry`, {
      key: other.key,
      body: { bulk_id: id },
    });
    assert.deepEqual([answer.status, answer.body.detail.errors[0].field], [422, 'bulk_id']);
  });

  it('is deleted with its last run', async () => {
    await fail();
    const answer = await retry();
    await finish(answer);
    const { bulk_id: id } = answer.body;
    await weir.db
      .updateTable('bulk_retry')
      .set({ started_at: new Date(0) })
      .where('id', '=', id)
      .execute();
    await deleteOld(weir.db, 3_000, 100);
    assert.equal((await get(`/${id}`)).status, 200);
    await weir.db.updateTable('run').set({ bulk_id: null }).where('bulk_id', '=', id).execute();
    await deleteOld(weir.db, 3_000, 100);
    assert.equal((await get(`/${id}`)).status, 404);
  });
});

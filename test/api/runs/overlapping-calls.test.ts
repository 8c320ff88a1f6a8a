import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { requestCancel } from '../../../db/runs/run-cancellation.ts';
import { llm, passthrough } from '../../blocks.ts';
import { answer, hang } from '../../fakes/model-server.ts';
import { assertCancelled, type JobsWeir, startJobsWeir } from './jobs-harness.ts';
import { createStepClient, names, only, type StepClient } from './step-client.ts';

async function drain<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('a session that has ended with one call while another is under way', () => {
  let weir: JobsWeir;
  let client: StepClient;
  before(async () => {
    weir = await startJobsWeir();
    client = await createStepClient(weir, weir.tenant);
  });
  after(() => weir.stop());

  const get = (path: string) => weir.call('GET', path, { key: weir.tenant.key });
  const bulkCancel = (body: object) =>
    weir.call('POST', `/projects/${weir.tenant.projectId}/runs/cancel`, { key: weir.tenant.key, body });

  /** A session whose first call is held at a model, and whose second one has completed the run. */
  async function begin() {
    const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat'), passthrough('after')]);
    weir.models.will(hang);
    const asked = weir.models.nextCall();
    const first = client.read(await client.open(flow, { stepIndex: 0, message: 'm' }));
    const { executionId } = (await first.next()).value?.data ?? {};
    const response: ServerResponse = await asked;
    const accumulatedOutputs = { ask: 'known' };
    const second = await client.step(flow, { executionId, stepIndex: 1, accumulatedOutputs });
    assert.equal(only(second, 'run_completed').result, 'known');
    return { flow, slug: flow.split('/')[2], executionId: executionId as string, first, response };
  }

  async function assertStops({ flow, executionId, first, response }: Awaited<ReturnType<typeof begin>>) {
    if (!response.closed) await once(response, 'close');
    const events = await drain(first);
    assert.equal(names(events).at(-1), 'run_failed');
    const { body } = await get(`${flow}/jobs/${executionId}`);
    assertCancelled(body);
    assert.deepEqual([body.result, await weir.charges(executionId)], [undefined, 0]);
    const open = await client.open(flow, { executionId, stepIndex: 1, accumulatedOutputs: { ask: 'known' } });
    assert.equal(open.status, 409);
    await open.body?.cancel();
  }

  it('is started, with no end, for whoever reads, lists or waits for it, until that one ends', async () => {
    const { flow, executionId, first, response } = await begin();
    const { body } = await get(`${flow}/jobs/${executionId}`);
    assert.deepEqual(
      [body.status, body.result, body.finishedAt, body.durationMs],
      ['started', undefined, null, null],
    );
    const listed = async (status: string) => (await get(`${flow}/runs?status=${status}`)).body.runs.length;
    assert.deepEqual([await listed('started'), await listed('completed')], [1, 0]);
    const url = `${weir.url}/api/v1/seq/${flow}/jobs/${executionId}/events`;
    const stream = await fetch(url, { headers: { authorization: `Bearer ${weir.tenant.key}` } });
    const told = stream.text();
    answer('late')(response);
    await drain(first);
    assert.match(await told, /"step_id":"ask"[\s\S]*event: run_/);
    assert.notEqual((await get(`${flow}/jobs/${executionId}`)).body.status, 'started');
    assert.equal(await listed('started'), 0);
  });

  it('is cancelled: what is under way stops and is not charged, and the session does not go on', async () => {
    const session = await begin();
    const { flow, executionId } = session;
    const { status, body } = await weir.cancel(flow, executionId);
    assert.equal(status, 202);
    assertCancelled(body);
    await assertStops(session);
    assert.equal((await weir.cancel(flow, executionId)).status, 200);
  });

  it('is among the runs of a project that a filter finds to cancel', async () => {
    const session = await begin();
    const { slug, executionId } = session;
    for (const filter of [{ flow: slug }, { flow: slug, status: 'started' }]) {
      const { body } = await bulkCancel({ ...filter, dryRun: true });
      assert.deepEqual(body.matching, [executionId]);
    }
    assert.deepEqual((await bulkCancel({ flow: slug })).body.cancelled, [executionId]);
    await assertStops(session);
    assert.deepEqual((await bulkCancel({ flow: slug })).body.cancelled, []);
  });

  it('ends when it is only marked as cancelled, of which a worker hears', async () => {
    const session = await begin();
    assert.ok(await requestCancel(weir.db, session.executionId));
    await assertStops(session);
    assert.equal(await requestCancel(weir.db, session.executionId), false);
  });
});

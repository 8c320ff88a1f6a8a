import assert from 'node:assert/strict';
import { code, passthrough } from '../../blocks.ts';
import { startApiProcess } from '../../faults/api-process.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { createStepClient, names, only, type StepClient } from './step-client.ts';
import { readRest, type StepStreams, startStepStreams, WHOLE } from './step-streams-harness.ts';

describe('Last-Event-ID of POST …/step', () => {
  let streams: StepStreams;
  let weir: Weir;
  let tenant: Tenant;
  let client: StepClient;
  let stepUntilRelease: StepStreams['stepUntilRelease'];
  before(async () => {
    streams = await startStepStreams();
    ({ weir, tenant, client, stepUntilRelease } = streams);
  });
  after(() => streams.stop());

  const three = () => weir.createFlow(tenant, [passthrough('a'), code('b', 'return 1;'), passthrough('c')]);
  const since = (id: string | undefined) => ({ headers: { 'last-event-id': id ?? '' } });
  const runs = async () => (await weir.db.selectFrom('run').select('execution_id').execute()).length;

  it('gets exactly what was missed, 204 where that is nothing, and runs nothing', async () => {
    const flow = await three();
    const events = await client.step(flow, WHOLE);
    const { executionId } = only(events, 'run_started');
    const before = await runs();
    for (const [index, { id }] of events.entries())
      for (const body of [WHOLE, { ...WHOLE, executionId }])
        if (index < events.length - 1)
          assert.deepEqual(await client.step(flow, body, since(id)), events.slice(index + 1));
        else assert.equal((await client.open(flow, body, since(id))).status, 204);
    assert.equal(await runs(), before);
  });

  it('gets what was missed and the rest of a call that is under way', async () => {
    const { flow, call, response, leaving, release } = await stepUntilRelease();
    const reading = client.read(response);
    const { value: first } = await reading.next();
    leaving.abort();
    await assert.rejects(reading.next(), { name: 'AbortError' });
    const back = client.read(await client.open(flow, call, since(first?.id)));
    release();
    const rest = await readRest(back);
    assert.deepEqual(names(rest), ['block_completed', 'step_paused']);
    const number = (id: string) => Number(id.split(':')[1]);
    assert.deepEqual(
      rest.map(({ id }) => number(id)),
      [2, 3],
    );
  });

  it('gets the rest at another process, too, which runs nothing itself', async () => {
    const { flow, call, response, release } = await stepUntilRelease();
    const second = await startApiProcess(weir);
    try {
      const { value: first } = await client.read(response).next();
      const back = client.read(await client.open(flow, call, { ...since(first?.id), url: second.url }));
      release();
      const rest = await readRest(back);
      assert.deepEqual(names(rest), ['block_completed', 'step_paused']);
    } finally {
      await second.stop();
    }
  });

  it('answers 404 for the id of an unknown call, of another session, flow and project', async () => {
    const flow = await three();
    const events = await client.step(flow, { stepIndex: 0, message: 'm' });
    const other = await client.step(flow, { stepIndex: 0, message: 'm' });
    const elsewhere = await client.step(await three(), WHOLE);
    const stranger = await weir.createTenant();
    const theirs = await weir.createFlow(stranger, [passthrough('a')]);
    const foreign = await (await createStepClient(weir, stranger)).step(theirs, WHOLE);
    const { executionId } = only(events, 'run_started');
    const unknown = '00000000-0000-4000-8000-000000000000:1';
    for (const id of [unknown, `${executionId}:1`, other[0]?.id, elsewhere[0]?.id, foreign[0]?.id]) {
      const response = await client.open(flow, { ...WHOLE, executionId }, since(id));
      const body = (await response.json()) as { detail: { code: string } };
      assert.deepEqual([response.status, body.detail.code], [404, 'RUN_NOT_FOUND'], id);
    }
  });

  it('answers 404 for the id of a call of another step, and runs nothing', async () => {
    const flow = await three();
    const [{ id, data } = assert.fail()] = await client.step(flow, { stepIndex: 0, message: 'm' });
    const next = { executionId: data.executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' } };
    const before = await runs();
    const response = await client.open(flow, next, since(id));
    const { detail } = (await response.json()) as { detail: { code: string; message: string } };
    assert.deepEqual([response.status, detail.code], [404, 'RUN_NOT_FOUND']);
    assert.match(detail.message, /a call of step 0, and stepIndex is 1/);
    assert.equal(await runs(), before);
  });

  for (const id of ['1', 'x', `${'-'.repeat(36)}:1`, `${'f'.repeat(36)}:1`, `${'0'.repeat(40)}:1:1`])
    it(`answers 422 for ${id}`, async () => {
      const response = await client.open(await three(), WHOLE, since(id));
      const body = (await response.json()) as { detail: { errors: { field: string }[] } };
      assert.deepEqual([response.status, body.detail.errors[0]?.field], [422, 'Last-Event-ID']);
    });
});

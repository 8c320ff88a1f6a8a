import assert from 'node:assert/strict';
import { INNER_OUTPUT_MAX_BYTES } from '../../../api/runs/step-events.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { hang, respond } from '../../fakes/model-server.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';
import { createStepClient, names, only, type StepClient } from './step-client.ts';

describe('blocks inside a step of POST …/step', () => {
  let weir: JobsWeir;
  let client: StepClient;
  before(async () => {
    weir = await startJobsWeir();
    client = await createStepClient(weir, weir.tenant);
  });
  after(() => weir.stop());

  const loop = (body: ReturnType<typeof code>[]) => ({
    type: 'loop' as const,
    step_id: 'each',
    name: 'each',
    max_iterations: 2,
    body,
  });

  it('begin and end with their iterations and branches, without an id, before their step ends', async () => {
    const flow = await weir.createFlow(weir.tenant, [
      code('list', 'return [1, 2];'),
      loop([
        {
          type: 'parallel',
          step_id: 'both',
          name: 'both',
          branches: { left: [passthrough('a')], right: [code('b', 'return input * 10;')] },
        },
      ]),
    ]);
    const events = await client.walk(flow, { message: 'm', stepIndex: 0 });
    const inner = events.filter(({ data }) => data.key !== undefined);
    assert.deepEqual(
      inner
        .filter(({ event }) => event === 'block_completed')
        .map(({ id, data }) => [id, data.stepId, data.stepIndex, data.iterations, data.branches, data.output])
        .sort(),
      [
        ['', 'a', 1, [0], ['left'], 1],
        ['', 'a', 1, [1], ['left'], 2],
        ['', 'b', 1, [0], ['right'], 10],
        ['', 'b', 1, [1], ['right'], 20],
      ],
    );
    for (const key of ['a#0', 'b#0', 'a#1', 'b#1'])
      assert.deepEqual(
        names(inner.filter(({ data }) => data.key === key)),
        ['block_started', 'block_completed'],
        key,
      );
    const end = events.findIndex(({ event, data }) => event === 'block_completed' && data.stepId === 'each');
    assert(inner.every((event) => events.indexOf(event) < end));
    // The client of this test merged the outputs of inner blocks as well.
    assert.deepEqual(only(events, 'run_completed').result, [
      { left: 1, right: 10 },
      { left: 2, right: 20 },
    ]);
  });

  it('leave out a long output, and say how long it is', async () => {
    const flow = await weir.createFlow(weir.tenant, [
      code('list', 'return [1, 2];'),
      loop([code('long', `return 'x'.repeat(${INNER_OUTPUT_MAX_BYTES});`)]),
    ]);
    const events = await client.walk(flow, { message: 'm', stepIndex: 0 });
    const ends = events.filter(({ event, data }) => event === 'block_completed' && data.key);
    assert.deepEqual(
      ends.map(({ data }) => [data.output, data.outputBytes]),
      [
        [null, INNER_OUTPUT_MAX_BYTES + 2],
        [null, INNER_OUTPUT_MAX_BYTES + 2],
      ],
    );
    assert.equal(only(events, 'run_completed').result[1].length, INNER_OUTPUT_MAX_BYTES);
  });

  it('are told again to a reader who comes back in the middle of their step, not to one who has its end', async () => {
    const flow = await weir.createFlow(weir.tenant, [
      code('list', 'return [1, 2];'),
      loop([passthrough('a')]),
    ]);
    const call = { message: 'm', stepIndex: 0, runRemaining: true };
    const events = await client.step(flow, call);
    const own = events.filter(({ data }) => data.key === undefined);
    const eventsAfter = async (id: string) => {
      const { executionId } = only(events, 'run_started');
      return client.step(flow, { ...call, executionId }, { headers: { 'Last-Event-ID': id } });
    };
    const begun = own.findIndex(({ data, event }) => event === 'block_started' && data.stepId === 'each');
    const again = await eventsAfter(own[begun]?.id ?? '');
    assert.deepEqual(again, events.slice(events.indexOf(own[begun] as (typeof own)[number]) + 1));
    assert.equal(again.filter(({ data }) => data.key).length, 4);
    const late = await eventsAfter(own[begun + 1]?.id ?? '');
    assert.deepEqual(names(late), ['run_completed']);
  });

  it('tell that their provider refused them, as does the block of a sequential step', async () => {
    for (const steps of [
      [llm('ask', 'x', 'demo/chat')],
      [
        {
          type: 'parallel' as const,
          step_id: 'p',
          name: 'p',
          branches: { b: [llm('ask', 'x', 'demo/chat')] },
        },
      ],
    ]) {
      const flow = await weir.createFlow(weir.tenant, steps);
      weir.models.will(respond(503, { error: { message: 'overloaded' } }, { 'retry-after': '30' }), hang);
      const left = new AbortController();
      const response = await client.open(flow, { message: 'm', stepIndex: 0 }, { signal: left.signal });
      let told: { executionId?: string; [field: string]: unknown } = {};
      for await (const message of client.read(response)) {
        told = message.data;
        if (message.event === 'block_retrying') break;
      }
      const { stepId, stepIndex, attempts, errorMessage } = told;
      assert.deepEqual([stepId, stepIndex, attempts], ['ask', 0, 1]);
      assert.match(String(errorMessage), /overloaded/);
      left.abort();
      await weir.cancel(flow, told.executionId ?? '');
      weir.models.forget();
    }
  });
});

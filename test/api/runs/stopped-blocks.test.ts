// The trace of blocks that were in flight when their run was cancelled or another block failed.
import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { llm, passthrough } from '../../blocks.ts';
import { hang, respond } from '../../fakes/model-server.ts';
import { waitUntil } from '../../wait-until.ts';
import { type EventsWeir, startEventsWeir } from './events-harness.ts';
import { createStepClient } from './step-client.ts';

const BESIDE: Step = {
  step_id: 'both',
  name: 'Both',
  type: 'parallel',
  branches: { left: [llm('one', 'x', 'demo/chat')], right: [llm('two', 'x', 'demo/chat')] },
};
const REFUSAL = respond(400, { error: { message: 'no' } });

describe('a block in flight', () => {
  let weir: EventsWeir;
  before(async () => {
    weir = await startEventsWeir();
  });
  after(() => weir.stop());

  const listBlocks = async (flow: string, executionId: string) =>
    (await weir.call('GET', `${flow}/jobs/${executionId}/blocks`, { key: weir.tenant.key })).body.blocks;

  it('stays in the trace of a cancelled run, with what it sent, at no cost and with unknown usage', async () => {
    const ask = llm('ask', 'Say {{previous_output}}', 'demo/chat');
    const flow = await weir.createFlow(weir.tenant, [passthrough('first'), ask]);
    const { executionId } = await weir.startHeld(flow);
    await weir.cancel(flow, executionId);
    await weir.finish(flow, executionId, weir.tenant.key);
    await waitUntil(async () => (await listBlocks(flow, executionId)).length === 2);
    const { body } = await weir.call('GET', `${flow}/jobs/${executionId}/blocks/ask`, {
      key: weir.tenant.key,
    });
    const { status, model, attempts, input, output, sent, usage } = body;
    assert.deepEqual(
      { status, model, attempts, input, output },
      { status: 'cancelled', model: 'demo/chat', attempts: 1, input: 'm', output: null },
    );
    assert.equal(sent.messages[0].content, 'Say m');
    assert.deepEqual(
      [usage.promptTokens, usage.completionTokens, usage.cost, body.code],
      [null, null, 0, undefined],
    );
    assert(body.startedAt <= body.finishedAt);
    assert.equal((await weir.read(flow, executionId)).body.cost, 0);
  });

  it('stays in the trace of a run that failed in a parallel branch', async () => {
    const flow = await weir.createFlow(weir.tenant, [BESIDE]);
    weir.models.will(hang, REFUSAL);
    const executionId = await weir.start(flow);
    const { body } = await weir.finish(flow, executionId, weir.tenant.key);
    assert.equal(body.code, 'MODEL_REQUEST_INVALID');
    await waitUntil(async () => (await listBlocks(flow, executionId)).length === 2);
    const statuses = (await listBlocks(flow, executionId)).map(({ status }: { status: string }) => status);
    assert.deepEqual(statuses.toSorted(), ['cancelled', 'failed']);
  });

  it('that waits for its next attempt ends as cancelled together with its run', async () => {
    const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
    weir.models.will(respond(503, { error: { message: 'later' } }, { 'retry-after': '60' }));
    const executionId = await weir.start(flow);
    await waitUntil(async () => (await weir.read(flow, executionId)).body.blocksUnderWay?.length === 1);
    const following = weir.list(flow, executionId);
    await weir.cancel(flow, executionId);
    const events = (await following).map(({ event }) => event);
    assert.deepEqual(events.slice(-2), ['block_cancelled', 'run_failed']);
    const [block, ...others] = (await weir.read(flow, executionId)).body.blocks;
    assert.deepEqual([block.key, block.status, block.attempts, others], ['ask', 'cancelled', 1, []]);
  });

  it('adds no event to /step when it is cancelled', async () => {
    const flow = await weir.createFlow(weir.tenant, [BESIDE]);
    const client = await createStepClient(weir, weir.tenant);
    weir.models.will(hang, hang);
    const asked = weir.models.nextCall();
    const stepping = client.step(flow, { executionId: null, stepIndex: 0, message: 'm' });
    await asked;
    const { runs } = (await weir.call('GET', `${flow}/runs`, { key: weir.tenant.key })).body;
    await weir.cancel(flow, runs[0].executionId);
    const names = new Set((await stepping).map(({ event }) => event));
    assert.deepEqual([...names], ['run_started', 'block_started', 'run_failed']);
  });
});

describe('a cancelled run', () => {
  let weir: EventsWeir;
  before(async () => {
    weir = await startEventsWeir();
  });
  after(() => weir.stop());

  it('says who cancelled it, and when, also in lists', async () => {
    const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
    const { executionId } = await weir.startHeld(flow);
    await weir.cancel(flow, executionId);
    const { body } = await weir.finish(flow, executionId, weir.tenant.key);
    const keyId = weir.tenant.key.split('_')[2];
    assert.equal(body.cancelledBy, `api_key/${keyId}`);
    assert(body.startedAt <= body.cancelledAt && body.cancelledAt <= body.finishedAt);
    const { runs } = (await weir.call('GET', `${flow}/runs`, { key: weir.tenant.key })).body;
    assert.deepEqual([runs[0].cancelledBy, runs[0].cancelledAt], [body.cancelledBy, body.cancelledAt]);
  });
});

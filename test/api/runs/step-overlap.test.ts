// Calls of one session that are under way together: the first one's connection dropped, and its client sent the step again.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { passthrough } from '../../blocks.ts';
import { answer, type Behaviour, callTools, hang, respond } from '../../fakes/model-server.ts';
import type { SseMessage } from '../../sse.ts';
import { createStepClient, only, resumeOf, type StepClient } from './step-client.ts';
import { asking, toolCall, useToolCalls, weather } from './tool-calls-harness.ts';

describe('calls of a session that are under way together', () => {
  const h = useToolCalls();
  let client: StepClient;
  let flow: string;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, [passthrough('a'), asking('ask')]);
    client = await createStepClient(h.weir, h.tenant);
  });

  type Held = { events: AsyncGenerator<SseMessage>; model: ServerResponse };
  /** A call that waits in its model. */
  async function hold(path: string, call: object): Promise<Held> {
    h.models.will(hang);
    const asked = h.models.nextCall();
    const events = client.read(await client.open(path, call));
    return { events, model: await asked };
  }
  async function end({ events, model }: Held, behaviour: Behaviour): Promise<SseMessage | undefined> {
    behaviour(model);
    let last: SseMessage | undefined;
    for await (const event of events) last = event;
    return last;
  }
  async function begin(): Promise<object> {
    const first = await client.step(flow, { stepIndex: 0, message: 'm' });
    const { executionId } = only(first, 'run_started');
    return { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' }, tools: [weather] };
  }
  const state = async (path: string, { executionId }: { executionId?: string }) =>
    (await h.read(path, executionId ?? '')).body;

  const ends: [string, Behaviour, string][] = [
    ['pauses', callTools([toolCall('a1')]), 'step_paused_for_tool_calls'],
    ['fails', respond(401, { error: { message: 'no such key' } }), 'run_failed'],
    ['ends the session', answer('late'), 'run_completed'],
  ];
  for (const [how, behaviour, event] of ends)
    it(`wait for the tools of the later one when the earlier one ${how} after it`, async () => {
      const call = await begin();
      const earlier = await hold(flow, call);
      h.models.will(callTools([toolCall('b1')]));
      const resume = resumeOf(call, await client.step(flow, call));
      assert.equal((await end(earlier, behaviour))?.event, event);
      const { status, toolCalls, result, errorMessage } = await state(flow, call);
      assert.deepEqual([status, result, errorMessage], ['in_progress', undefined, undefined]);
      assert.deepEqual(toolCalls, [toolCall('b1')]);
      h.models.will(answer('found'));
      assert.equal(only(await client.step(flow, resume), 'run_completed').result, 'found');
    });

  it('wait for the tools of the later one when the earlier one was the first of the session', async () => {
    const path = await h.weir.createFlow(h.tenant, [asking('ask'), passthrough('b')]);
    const first = { stepIndex: 0, message: 'm', tools: [weather] };
    const earlier = await hold(path, first);
    const { executionId } = (await earlier.events.next()).value?.data ?? {};
    const call = { ...first, executionId };
    h.models.will(callTools([toolCall('b1')]));
    await client.step(path, call);
    await end(earlier, callTools([toolCall('a1')]));
    assert.deepEqual((await state(path, call)).toolCalls, [toolCall('b1')]);
  });

  it('are started while a later one is under way, and end as that one does', async () => {
    const call = await begin();
    const earlier = await hold(flow, call);
    const later = await hold(flow, call);
    await end(earlier, answer('early'));
    const { status, result } = await state(flow, call);
    assert.deepEqual([status, result], ['started', undefined]);
    await end(later, answer('late'));
    assert.equal((await state(flow, call)).result, 'late');
  });
});

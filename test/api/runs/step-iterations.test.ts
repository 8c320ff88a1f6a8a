import assert from 'node:assert/strict';
import { answer, callTools } from '../../fakes/model-server.ts';
import type { Answer } from '../../harness.ts';
import { createStepClient, names, only, resumeOf, type StepClient } from './step-client.ts';
import { asking, toolCall, useToolCalls, weather } from './tool-calls-harness.ts';

describe('TOOL_ITERATION_LIMIT of /step', () => {
  const h = useToolCalls();
  let client: StepClient;
  let flow: string;
  before(async () => {
    client = await createStepClient(h.weir, h.tenant);
    const processor_config = { max_tool_iterations: 1 };
    flow = await h.weir.createFlow(h.tenant, [asking('ask', 'x', { processor_config }), asking('next')]);
  });
  /** A session whose block has used all its round-trips, and what resumes it. */
  async function pause() {
    h.models.will(callTools([toolCall('c1')]));
    const call = { stepIndex: 0, message: 'm', tools: [weather] };
    const events = await client.step(flow, call);
    const { executionId } = only(events, 'run_started');
    const { message, ...again } = call;
    return { executionId, resume: resumeOf({ ...again, executionId }, events) };
  }

  /** Asserts that a call is refused by the cap of 1, and returns the messages of the error. */
  function assertLimit({ status, body }: Answer, executionId: string) {
    const { message, messages, ...detail } = body.detail;
    const limit = { code: 'TOOL_ITERATION_LIMIT', executionId, step_id: 'ask', iterations_used: 1, cap: 1 };
    assert.deepEqual([status, detail], [409, limit]);
    return messages;
  }

  for (const iterationsUsed of [0, 1, undefined])
    it(`is a 409 before the stream begins when the model asks for tools again, with iterationsUsed ${iterationsUsed}`, async () => {
      const { resume, executionId } = await pause();
      h.models.will(callTools([toolCall('c2')]));
      const body = { ...resume, iterationsUsed };
      const refused = await h.weir.call('POST', `${flow}/step`, { key: h.tenant.key, body });
      const messages = assertLimit(refused, executionId);
      assert.deepEqual(messages.slice(0, -1), resume.toolCallMessages);
      const state = (await h.read(flow, executionId)).body;
      assert.deepEqual([state.status, state.toolCallMessages], ['in_progress', messages]);
    });

  it('names the session also before anything runs, and the resume is accepted once the cap is raised', async () => {
    const { resume, executionId } = await pause();
    h.models.will(callTools([toolCall('c2')]));
    const post = (body: object) => h.weir.call('POST', `${flow}/step`, { key: h.tenant.key, body });
    const toolCallMessages = [
      ...assertLimit(await post(resume), executionId),
      { role: 'tool', tool_call_id: 'c2', content: 'x' },
    ];
    const again = { ...resume, toolCallMessages };
    assert.deepEqual(assertLimit(await post(again), executionId), toolCallMessages);
    h.models.will(answer('found'));
    const blockOverrides = { ask: { processor_config: { max_tool_iterations: 2 } } };
    const events = await client.step(flow, { ...again, blockOverrides });
    assert.equal(only(events, 'block_completed').output, 'found');
  });

  it('does not come when the model answers instead: the stream has every event', async () => {
    const { resume } = await pause();
    h.models.will(answer('found'));
    const events = await client.step(flow, resume);
    assert.deepEqual(names(events), ['block_started', 'block_completed', 'step_paused']);
    assert.equal(only(events, 'block_completed').output, 'found');
  });
});

import assert from 'node:assert/strict';
import { answer, callTools } from '../../fakes/model-server.ts';
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

  for (const iterationsUsed of [0, 1, undefined])
    it(`is a 409 before the stream begins when the model asks for tools again, with iterationsUsed ${iterationsUsed}`, async () => {
      const { resume, executionId } = await pause();
      h.models.will(callTools([toolCall('c2')]));
      const body = { ...resume, iterationsUsed };
      const refused = await h.weir.call('POST', `${flow}/step`, { key: h.tenant.key, body });
      const { code, step_id, iterations_used, cap, messages } = refused.body.detail;
      assert.deepEqual(
        [refused.status, code, step_id, iterations_used, cap],
        [409, 'TOOL_ITERATION_LIMIT', 'ask', 1, 1],
      );
      assert.deepEqual(messages.slice(0, -1), resume.toolCallMessages);
      const state = (await h.read(flow, executionId)).body;
      assert.deepEqual([state.status, state.toolCallMessages], ['in_progress', messages]);
    });

  it('does not come when the model answers instead: the stream has every event', async () => {
    const { resume } = await pause();
    h.models.will(answer('found'));
    const events = await client.step(flow, resume);
    assert.deepEqual(names(events), ['block_started', 'block_completed', 'step_paused']);
    assert.equal(only(events, 'block_completed').output, 'found');
  });
});

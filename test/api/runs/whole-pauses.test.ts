// A pause is sent back whole, as it was answered, told by an event, or read with GET …/jobs/{executionId}.
import assert from 'node:assert/strict';
import type { z } from 'zod';
import { executeResponse, jobState } from '../../../api/runs/run-shapes/answers.ts';
import { executeRequest } from '../../../api/runs/run-shapes/requests.ts';
import { stepEventSchema, stepRequest } from '../../../api/runs/run-shapes/step-requests.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { createStepClient, only, type StepClient } from './step-client.ts';
import { type Body, resultsOf, TWO_ASKING, toolCall, useToolCalls, weather } from './tool-calls-harness.ts';

/** Lists the fields of the schema with this id. */
function fieldsOf(options: readonly z.core.$ZodType[], id: string): string[] {
  const found = (options as z.ZodObject[]).find((option) => option.meta()?.id === id);
  assert(found, id);
  return Object.keys(found.shape);
}

describe('a pause that is sent back whole', () => {
  for (const [name, options, id, request] of [
    ['an answer of /execute', executeResponse.options, 'ExecutePaused', executeRequest],
    ['a state of a run', jobState.options, 'JobPaused', executeRequest],
    ['an event of /step', stepEventSchema.options, 'StepPausedForToolCalls', stepRequest],
    ['a state of a session', jobState.options, 'JobInProgress', stepRequest],
  ] as const)
    it(`has no field that the request does not know: ${name}`, () => {
      const known = Object.keys(request.shape);
      assert.deepEqual(
        fieldsOf(options, id).filter((field) => !known.includes(field)),
        [],
      );
    });

  const h = useToolCalls();
  let flow: string;
  let client: StepClient;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, TWO_ASKING);
    client = await createStepClient(h.weir, h.tenant);
  });
  const whole = (pause: Body): Body => ({
    ...pause,
    traceId: 'a'.repeat(32),
    toolCallMessages: [...pause.toolCallMessages, ...resultsOf(pause)],
    tools: [weather],
  });

  for (const from of ['an answer', 'a state'])
    it(`is resumed by /execute: ${from}`, async () => {
      const paused = await h.pauseWithTwo(flow);
      const pause = from === 'an answer' ? paused : (await h.read(flow, paused.executionId)).body;
      h.models.will(answer('ok'), answer('done'));
      const { status, body } = await h.execute(flow, whole(pause));
      assert.deepEqual([status, body.result], [200, 'done'], JSON.stringify(body));
    });

  async function pauseSession(): Promise<Body> {
    const first = await client.step(flow, { stepIndex: 0, message: 'm' });
    const { executionId } = only(first, 'run_started');
    h.models.will(callTools([toolCall('c1')]));
    const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' }, tools: [weather] };
    return only(await client.step(flow, call), 'step_paused_for_tool_calls');
  }

  it('is resumed by /step: an event, and with fewer of its fields it is the same resume', async () => {
    const pause = await pauseSession();
    h.models.will(answer('ok'));
    const resume = whole(pause);
    const events = await client.step(flow, resume);
    assert.equal(only(events, 'block_completed').output, 'ok');
    const { runId, status, stepId, pausedAtStep, toolCalls, traceId, ...fewer } = resume;
    assert.deepEqual(await client.step(flow, fewer), events);
  });

  it('is resumed by /step: a state of the session, with the index of its step', async () => {
    const { executionId, stepIndex } = await pauseSession();
    const { body: state } = await h.read(flow, executionId);
    h.models.will(answer('ok'));
    const events = await client.step(flow, whole({ ...state, stepIndex }));
    assert.equal(only(events, 'block_completed').output, 'ok');
  });
});

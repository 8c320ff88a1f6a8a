import assert from 'node:assert/strict';
import { MAX_TOOL_ITERATIONS_DEFAULT } from '../../../flow/limits.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { asking, type Body, resumeOf, toolCall, useToolCalls } from './tool-calls-harness.ts';

describe('TOOL_ITERATION_LIMIT', () => {
  const h = useToolCalls();

  /** A run that has paused so often. */
  async function pauseTimes(flow: string, rounds: number): Promise<Body> {
    for (let round = 0; round < rounds; round++) h.models.will(callTools([toolCall(`call_${round}`)]));
    let body = await h.pause(flow);
    for (let round = 1; round < rounds; round++) body = (await h.execute(flow, resumeOf(body))).body;
    assert.deepEqual([body.status, body.iterationsUsed], ['tool_calls_required', rounds]);
    return body;
  }
  async function refuse(flow: string, resume: Body, expected: { iterations_used: number; cap: number }) {
    const asked = h.models.calls.length;
    const { status, body } = await h.execute(flow, resume);
    const { message, ...detail } = body.detail;
    assert.equal(status, 409);
    assert.deepEqual(detail, {
      code: 'TOOL_ITERATION_LIMIT',
      step_id: 'ask',
      ...expected,
      messages: resume.toolCallMessages,
    });
    assert.match(
      message,
      new RegExp(`ask.*${expected.iterations_used}.*max_tool_iterations is ${expected.cap}`),
    );
    assert.equal(h.models.calls.length, asked);
  }

  it(`answers 409 to the resume after ${MAX_TOOL_ITERATIONS_DEFAULT} round-trips; those before it are answered`, async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    const paused = await pauseTimes(flow, MAX_TOOL_ITERATIONS_DEFAULT);
    await refuse(flow, resumeOf(paused), { iterations_used: 25, cap: 25 });
    const { body } = await h.read(flow, paused.executionId);
    assert.deepEqual([body.status, body.iterationsUsed], ['tool_calls_required', 25]);
    assert.equal((await h.charges(paused.executionId)).length, 25);
  });

  describe('with max_tool_iterations', () => {
    let flow: string;
    before(async () => {
      flow = await h.weir.createFlow(h.tenant, [
        asking('ask', 'x', { processor_config: { max_tool_iterations: 3 } }),
        asking('next'),
      ]);
    });

    it('lets the block answer after one round-trip less', async () => {
      const paused = await pauseTimes(flow, 2);
      h.models.will(answer('first'), answer('second'));
      assert.equal((await h.execute(flow, resumeOf(paused))).body.result, 'second');
    });

    it('holds whatever the caller says, leaves out or cuts from the conversation', async () => {
      const paused = await pauseTimes(flow, 3);
      const resume = resumeOf(paused);
      const limit = { iterations_used: 3, cap: 3 };
      const { iterationsUsed, ...silent } = resume;
      const trimmed = { ...resume, toolCallMessages: resume.toolCallMessages.slice(-2) };
      for (const evasion of [
        resume,
        { ...resume, iterationsUsed: 0 },
        silent,
        trimmed,
        { ...trimmed, iterationsUsed: 0, resumeState: undefined },
      ])
        await refuse(flow, evasion, limit);
    });

    it('counts the round-trips of an earlier pause when the caller restarts the conversation', async () => {
      const paused = await pauseTimes(flow, 2);
      const trimmed = { ...resumeOf(paused), toolCallMessages: resumeOf(paused).toolCallMessages.slice(-2) };
      h.models.will(callTools([toolCall('z')]));
      const { body } = await h.execute(flow, { ...trimmed, iterationsUsed: 0 });
      assert.equal(body.iterationsUsed, 3);
      await refuse(flow, { ...resumeOf(body), iterationsUsed: 0 }, { iterations_used: 3, cap: 3 });
    });

    it('believes a caller, or a conversation, that tells of more', async () => {
      const paused = await pauseTimes(flow, 1);
      const resume = resumeOf(paused);
      await refuse(flow, { ...resume, iterationsUsed: 3 }, { iterations_used: 3, cap: 3 });
      const most = Number.MAX_SAFE_INTEGER;
      await refuse(flow, { ...resume, iterationsUsed: most }, { iterations_used: most, cap: 3 });
      const [user, ...round] = resume.toolCallMessages;
      const longer = { ...resume, toolCallMessages: [user, ...round, ...round, ...round] };
      await refuse(flow, longer, { iterations_used: 3, cap: 3 });
      h.models.will(callTools([toolCall('z')]));
      const { body } = await h.execute(flow, { ...resume, iterationsUsed: 2 });
      assert.equal(body.iterationsUsed, 3);
    });

    it('may be raised for the run by block_overrides', async () => {
      const paused = await pauseTimes(flow, 3);
      h.models.will(answer('first'), answer('second'));
      const block_overrides = { ask: { processor_config: { max_tool_iterations: 4 } } };
      const { body } = await h.execute(flow, { ...resumeOf(paused), block_overrides });
      assert.equal(body.result, 'second');
    });
  });
});

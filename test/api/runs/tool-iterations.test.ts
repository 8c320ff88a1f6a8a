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
  type Limit = { iterations_used: number; cap: number };
  function assertRefused({ status, body }: { status: number; body: Body }, resume: Body, expected: Limit) {
    const { message, messages, ...detail } = body.detail;
    const { executionId } = resume;
    assert.equal(status, 409);
    assert.deepEqual(detail, { code: 'TOOL_ITERATION_LIMIT', executionId, step_id: 'ask', ...expected });
    const { iterations_used, cap } = expected;
    const again =
      messages.at(-1).role === 'tool' ? 'send this resume again' : 'resume with the messages of this error';
    const mend =
      iterations_used < 100
        ? `Raise it with block overrides .*, and ${again}`
        : 'Send the iterationsUsed of the pause';
    assert.match(
      message,
      new RegExp(`ask has used ${iterations_used} .*max_tool_iterations is ${cap}\\. ${mend}`),
    );
    return messages;
  }
  /** Resumes a run whose model then asks for tools once too often. */
  async function askAgain(flow: string, resume: Body, expected: Limit) {
    h.models.will(callTools([toolCall('again')]));
    const messages = assertRefused(await h.execute(flow, resume), resume, expected);
    assert.deepEqual(messages.slice(0, -1), resume.toolCallMessages);
    assert.equal(messages.at(-1).tool_calls[0].id, 'again');
    return messages;
  }
  /** Asserts that a resume is refused before anything runs. */
  async function refuse(flow: string, resume: Body, expected: Limit) {
    const asked = h.models.calls.length;
    const messages = assertRefused(await h.execute(flow, resume), resume, expected);
    assert.deepEqual(messages, resume.toolCallMessages);
    assert.equal(h.models.calls.length, asked);
  }

  it(`comes when the model asks for tools after ${MAX_TOOL_ITERATIONS_DEFAULT} round-trips, and the run waits there`, async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    const paused = await pauseTimes(flow, MAX_TOOL_ITERATIONS_DEFAULT);
    const messages = await askAgain(flow, resumeOf(paused), { iterations_used: 25, cap: 25 });
    const { body } = await h.read(flow, paused.executionId);
    assert.deepEqual([body.status, body.iterationsUsed], ['tool_calls_required', 26]);
    assert.deepEqual(body.toolCallMessages, messages);
    assert.equal((await h.charges(paused.executionId)).length, 26);
    await refuse(flow, resumeOf(body), { iterations_used: 25, cap: 25 });
  });

  it('is the answer to the same resume sent again, which asks no model', async () => {
    const flow = await h.weir.createFlow(h.tenant, [
      asking('ask', 'x', { processor_config: { max_tool_iterations: 1 } }),
    ]);
    const paused = await pauseTimes(flow, 1);
    await askAgain(flow, resumeOf(paused), { iterations_used: 1, cap: 1 });
    const asked = h.models.calls.length;
    const resume = resumeOf(paused);
    assertRefused(await h.execute(flow, resume), resume, { iterations_used: 1, cap: 1 });
    assert.equal(h.models.calls.length, asked);
  });

  describe('with max_tool_iterations', () => {
    let flow: string;
    before(async () => {
      flow = await h.weir.createFlow(h.tenant, [
        asking('ask', 'x', { processor_config: { max_tool_iterations: 3 } }),
        asking('next'),
      ]);
    });

    it('lets the block answer after that many round-trips', async () => {
      const paused = await pauseTimes(flow, 3);
      h.models.will(answer('first'), answer('second'));
      assert.equal((await h.execute(flow, resumeOf(paused))).body.result, 'second');
    });

    it('holds whatever the caller says, leaves out or cuts from the conversation', async () => {
      const limit = { iterations_used: 3, cap: 3 };
      const evasions: ((resume: Body) => Body)[] = [
        (resume) => ({ ...resume, iterationsUsed: 0 }),
        ({ iterationsUsed, ...silent }) => silent,
        (resume) => ({ ...resume, toolCallMessages: resume.toolCallMessages.slice(-2) }),
        (resume) => ({ ...resume, toolCallMessages: resume.toolCallMessages.slice(-2), iterationsUsed: 0 }),
      ];
      for (const evade of evasions) await askAgain(flow, evade(resumeOf(await pauseTimes(flow, 3))), limit);
    });

    it('believes a caller, or a conversation, that tells of more', async () => {
      const paused = await pauseTimes(flow, 1);
      const resume = resumeOf(paused);
      await refuse(flow, { ...resume, iterationsUsed: 3 }, { iterations_used: 3, cap: 3 });
      const most = Number.MAX_SAFE_INTEGER;
      await refuse(flow, { ...resume, iterationsUsed: most }, { iterations_used: most, cap: 3 });
      const [user, ...round] = resume.toolCallMessages;
      const longer = { ...resume, toolCallMessages: [user, ...round, ...round, ...round, ...round] };
      await refuse(flow, longer, { iterations_used: 3, cap: 3 });
      h.models.will(callTools([toolCall('z')]));
      const { body } = await h.execute(flow, { ...resume, iterationsUsed: 2 });
      assert.equal(body.iterationsUsed, 3);
    });

    it('may be raised for the run by block_overrides, also when it was passed', async () => {
      const block_overrides = { ask: { processor_config: { max_tool_iterations: 4 } } };
      const paused = await pauseTimes(flow, 3);
      await askAgain(flow, resumeOf(paused), { iterations_used: 3, cap: 3 });
      const { body: waiting } = await h.read(flow, paused.executionId);
      await refuse(flow, resumeOf(waiting), { iterations_used: 3, cap: 3 });
      h.models.will(answer('first'), answer('second'));
      const { body } = await h.execute(flow, { ...resumeOf(waiting), block_overrides });
      assert.equal(body.result, 'second');
    });
  });
});

// Gateways that lose a model while it answers have sent status 200: they mark the choice as failed, as OpenRouter does.
import assert from 'node:assert/strict';
import { ModelUnavailable } from '../../../activities/attempts/model-unavailable.ts';
import { captureLog } from '../../capture-log.ts';
import { type Behaviour, respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const error = { code: 502, message: 'Upstream lost, key-of-the-test' };
const text = { role: 'assistant', content: 'Ada was' };
const nothing = { role: 'assistant', content: '', refusal: null, tool_calls: [] };
const used = { prompt_tokens: 10, completion_tokens: 5 };

function choose(choice: Record<string, unknown>, usage?: unknown): Behaviour {
  return respond(200, { choices: [{ index: 0, ...choice }], usage });
}

describe('an answer that its gateway marks as failed', () => {
  const harness = useAskModel();

  for (const [name, behaviour] of [
    ['by its finish_reason and an error', choose({ message: text, finish_reason: 'error', error })],
    ['by an error alone', choose({ message: text, finish_reason: 'stop', error })],
    ['before the model had used up its tokens', choose({ message: text, finish_reason: 'length', error })],
    ['in a tool call', choose({ message: { ...nothing, tool_calls: [{ id: 'a' }] }, error })],
    ['in its thoughts', choose({ message: { ...nothing, reasoning: 'Ada is' }, error })],
    ['in a long text', choose({ message: { ...text, content: 'x'.repeat(300_000) }, error })],
  ] as const)
    it(`is MODEL_OUTPUT_INCOMPLETE, never its text (${name})`, async () => {
      await assert.rejects(
        harness.callAfter(behaviour),
        fails('MODEL_OUTPUT_INCOMPLETE', /used: Upstream lost/),
      );
    });

  it('is asked for once more, and paid, where nothing was written but tokens were used', async () => {
    const lost = choose({ message: nothing, finish_reason: 'error', error }, used);
    harness.server.will(lost, choose({ message: text, finish_reason: 'stop' }, used));
    const { output, promptTokens } = await harness.call();
    assert.deepEqual([output, promptTokens], ['Ada was', 20]);
    harness.server.will(lost, lost);
    await assert.rejects(harness.call(), fails('MODEL_OUTPUT_INCOMPLETE', /used: Upstream lost/));
  });

  for (const reason of ['error', 'abort', 'insufficient_system_resource'])
    it(`is repeated where its reason is all that it has (${reason})`, () =>
      assert.rejects(
        harness.callAfter(choose({ message: nothing, finish_reason: reason })),
        ModelUnavailable,
      ));

  it('is MODEL_OUTPUT_INCOMPLETE also when the gateway gives no reason', () =>
    assert.rejects(
      harness.callAfter(choose({ message: text, finish_reason: 'error' })),
      fails('MODEL_OUTPUT_INCOMPLETE', /its provider failed while it answered/),
    ));

  it('costs what it says it has used', async () => {
    const behaviour = choose({ message: text, finish_reason: 'error', error }, used);
    await assert.rejects(harness.callAfter(behaviour), fails('MODEL_OUTPUT_INCOMPLETE', /Upstream lost/));
    assert.equal(harness.usage.costMicrocredits, 10 * 15 + 5 * 60);
  });

  for (const [name, choice] of [
    ['an empty message', { message: nothing, finish_reason: 'error', error }],
    ['no message', { finish_reason: 'error', error }],
    ['an error alone', { message: null, error }],
  ] as const)
    it(`is repeated where nothing was written or used (${name})`, () =>
      assert.rejects(harness.callAfter(choose(choice)), (failure: unknown) => {
        assert.ok(failure instanceof ModelUnavailable, String(failure));
        assert.match(failure.message, /unavailable \(status 502\): Upstream lost, \[key\]$/);
        assert.equal(failure.isUnreadable, false);
        return true;
      }));

  it('is final, by the status that its gateway reports, where repeating would not help', async () => {
    const behaviour = choose({ message: nothing, error: { code: 402, message: 'Insufficient credits' } });
    await assert.rejects(harness.callAfter(behaviour), fails('MODEL_QUOTA_EXCEEDED', /Insufficient credits/));
  });

  for (const [name, code, status] of [
    ['its own', 529, 529],
    ['one that is not a status', 'overloaded', 502],
    ['none', undefined, 502],
  ] as const)
    for (const [where, body] of [
      ['choice', { choices: [{ message: nothing, error: { ...error, code } }] }],
      ['answer', { error: { ...error, code } }],
    ] as const)
      it(`is logged by a status, without what was said (of the ${where}: ${name})`, async () => {
        const log = captureLog();
        try {
          await assert.rejects(harness.callAfter(respond(200, body)), /Upstream lost/);
        } finally {
          log.stop();
        }
        assert.deepEqual(
          log.lines.map(({ reason }) => reason),
          [`it answers with status ${status}`],
        );
      });

  it('is MODEL_REFUSED where a content filter is the reason', () =>
    assert.rejects(
      harness.callAfter(choose({ message: nothing, finish_reason: 'content_filter', error })),
      fails('MODEL_REFUSED', /content filter/),
    ));

  it('is not one that says it has no error', async () => {
    harness.server.will(choose({ message: text, finish_reason: 'stop', error: null }));
    assert.equal((await harness.call()).output, 'Ada was');
  });
});

// Failures of model calls that repeating would not mend, or would pay for once more.
import assert from 'node:assert/strict';
import type { ModelRequest } from '../../../activities/model/ask-model.ts';
import type { Block } from '../../../flow/definition.ts';
import { NO_TOKENS } from '../../../platform/models/token-usage.ts';
import { answer, respond, sendForever, startFakeModelServer } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

describe('a failed model call', () => {
  const harness = useAskModel();

  describe('answers that were paid and are none', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    const message = { role: 'assistant', content: 'Yes.' };
    for (const [name, body] of [
      ['says something that is not text', { choices: [{ message: { ...message, content: 7 } }] }],
      ['has a finish_reason that is not text', { choices: [{ message, finish_reason: {} }], usage }],
    ] as const)
      it(`is MODEL_OUTPUT_INVALID, never ModelUnavailable, when it ${name}`, async () => {
        await assert.rejects(
          harness.callAfter(respond(200, body)),
          fails('MODEL_OUTPUT_INVALID', /is not a chat completion/),
        );
        const { promptTokens, isEstimated } = harness.usage;
        assert.deepEqual([promptTokens > 0, isEstimated], [true, 'usage' in body ? undefined : true]);
      });

    for (const [name, body] of [
      ['has no choices', { choices: [], usage }],
      ['has nothing but its usage', { usage }],
      ['has a choice without a message', { choices: [{ index: 0 }], usage }],
      ['has a choice that is null', { choices: [null], usage }],
    ] as const)
      it(`is paid, and asked for once more, when it ${name}`, async () => {
        harness.server.will(respond(200, body), answer('Yes.'));
        const { output, promptTokens } = await harness.call();
        assert.deepEqual([output, promptTokens], ['Yes.', 20]);
        harness.server.will(respond(200, body), respond(200, body));
        await assert.rejects(harness.call(), fails('MODEL_OUTPUT_INVALID', /is not a chat completion/));
      });
  });

  describe('redirects', () => {
    for (const status of [301, 302, 303, 304, 307, 308])
      it(`are not followed, so that the key stays here, and say what to mend (${status})`, async () => {
        const elsewhere = await startFakeModelServer();
        try {
          const location = `${elsewhere.provider.baseUrl}/chat/completions?secret`;
          harness.server.will(respond(status, '', { location }));
          elsewhere.will(answer('mine'));
          await assert.rejects(harness.call(), (error: Error) => {
            assert.doesNotMatch(error.message, /secret/);
            return fails('MODEL_NOT_CONFIGURED', /redirect \(status 30\d\).* OPENAI_BASE_URL/)(error);
          });
          assert.deepEqual([harness.server.calls.length, elsewhere.calls.length], [1, 0]);
        } finally {
          await elsewhere.close();
        }
      });
  });

  describe('failures for people', () => {
    for (const [status, code] of [
      [400, 'MODEL_REQUEST_INVALID'],
      [402, 'MODEL_QUOTA_EXCEEDED'],
      [404, 'MODEL_NOT_FOUND'],
      [422, 'MODEL_REQUEST_INVALID'],
    ] as const) {
      it(`is ${code} with the provider's words at ${status}`, async () => {
        const body = {
          error: { message: `no such thing as sk-abc***xyz or key-of-the-test ${'!'.repeat(1_000)}` },
        };
        await assert.rejects(harness.callAfter(respond(status, body)), (error: Error) => {
          assert.ok(error.message.length < 700);
          return fails(code, /no such thing as \[key\] or \[key\]/)(error);
        });
        assert.equal(harness.server.calls.length, 1);
      });
    }

    it("reads Google's error bodies, which are arrays", () =>
      assert.rejects(
        harness.callAfter(respond(400, [{ error: { code: 400, message: 'unknown field' } }])),
        fails('MODEL_REQUEST_INVALID', /unknown field/),
      ));

    for (const status of [401, 403]) {
      it(`is MODEL_KEY_REJECTED at ${status} and names the variable`, () =>
        assert.rejects(
          harness.callAfter(respond(status, { error: { message: 'Incorrect API key: key-of-the-test' } })),
          fails('MODEL_KEY_REJECTED', /OPENAI_API_KEY/),
        ));
    }

    it("is MODEL_KEY_REJECTED for Google's status 400", async () => {
      const error = { message: 'API key not valid.', details: [{ reason: 'API_KEY_INVALID' }] };
      harness.server.will(respond(400, [{ error }]));
      await assert.rejects(
        harness.call({ model: 'google/gemini-2.5-flash' }),
        fails('MODEL_KEY_REJECTED', /GOOGLE_API_KEY/),
      );
    });

    it('is final when what a provider says is nested far too deep', async () => {
      const deep = '['.repeat(20_000) + ']'.repeat(20_000);
      for (const error of [`{"message":"no","details":${deep}}`, deep]) {
        harness.server.will(respond(400, `{"error":${error}}`));
        await assert.rejects(harness.call(), fails('MODEL_REQUEST_INVALID', /status 400/));
      }
    });

    it('is OUTPUT_TOO_LARGE, and costs what was reserved, when the answer does not end', async () => {
      await assert.rejects(harness.callAfter(sendForever), fails('OUTPUT_TOO_LARGE', /8 MiB/));
      assert.deepEqual([harness.usage.costMicrocredits], harness.reserved);
      assert.ok(harness.usage.costMicrocredits > 0);
    });

    it('is MODEL_REFUSED when the model refuses', () =>
      assert.rejects(
        harness.callAfter(answer(null, { refusal: 'I will not.' })),
        fails('MODEL_REFUSED', /I will not\./),
      ));

    for (const [name, behaviour] of [
      ['refused', answer(null, { refusal: 'I will not.' })],
      ['filtered', answer('', { finish_reason: 'content_filter' })],
      ['cut off', answer('Once upon', { finish_reason: 'length' })],
    ] as const) {
      it(`counts the tokens of an answer that is ${name}`, async () => {
        await assert.rejects(harness.callAfter(behaviour));
        assert.deepEqual(harness.usage, {
          model: 'openai/gpt-4o-mini',
          ...NO_TOKENS,
          promptTokens: 10,
          completionTokens: 5,
          costMicrocredits: 10 * 15 + 5 * 60,
        });
      });
    }

    it('is MODEL_REFUSED when a content filter stops the answer', () =>
      assert.rejects(
        harness.callAfter(answer('', { finish_reason: 'content_filter' })),
        fails('MODEL_REFUSED', /content filter/),
      ));

    it('is MODEL_OUTPUT_INCOMPLETE when the answer is cut off', () =>
      assert.rejects(
        harness.callAfter(answer('Once upon', { finish_reason: 'length' })),
        fails('MODEL_OUTPUT_INCOMPLETE', /max_tokens/),
      ));

    it('is kept for the trace without the key that an error in it quotes', async () => {
      const answers: ModelRequest['answers'] = {};
      const error = { message: 'The key key-of-the-test is wrong.' };
      harness.server.will(respond(200, { choices: [], usage: { prompt_tokens: 10 }, error }));
      await assert.rejects(harness.call({}, undefined, { answers }));
      assert.match(answers.last?.text ?? '', /The key \[key\] is wrong/);
    });

    describe('cut off, with on_length: accept,', () => {
      const cut = (text: string | null) => answer(text, { finish_reason: 'length' });
      const call = (block: Partial<Block>, more: Partial<ModelRequest> = {}) =>
        harness.call({ processor_config: { on_length: 'accept' }, ...block }, undefined, more);

      it('is the output where it is text', async () => {
        harness.server.will(cut('Once upon'));
        assert.equal((await call({})).output, 'Once upon');
      });

      it('is MODEL_OUTPUT_INCOMPLETE where it has no text, a schema or tools', async () => {
        const tool = { type: 'function', function: { name: 'find' } } as const;
        harness.server.will(cut(null), cut('{}'), cut('Once upon'));
        const refused = fails('MODEL_OUTPUT_INCOMPLETE', /cut off/);
        await assert.rejects(call({}), refused);
        // The hint would not help here.
        const noHint = fails('MODEL_OUTPUT_INCOMPLETE', /^(?!.*on_length)/);
        await assert.rejects(call({ outputSchema: { type: 'object' } }), noHint);
        await assert.rejects(call({}, { tools: [tool] }), refused);
      });
    });
  });
});

import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mock } from 'node:test';
import { ModelUnavailable } from '../../activities/call-model.ts';
import { MODEL_CALL_TIMEOUT_MS } from '../../activities/model-client.ts';
import {
  answer,
  type Behaviour,
  hang,
  hangMidBody,
  resetMidBody,
  respond,
  sendForever,
  startFakeModelServer,
} from '../fakes/model-server.ts';
import { fails, useCallModel } from './call-model-harness.ts';

function unavailable(message: RegExp, retryAfterMs?: number, isUnreadable?: boolean) {
  return (error: unknown) => {
    assert.ok(error instanceof ModelUnavailable, String(error));
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /key-of-the-test|sk-/);
    assert.equal(error.retryAfterMs, retryAfterMs);
    if (isUnreadable !== undefined) assert.equal(error.isUnreadable, isUnreadable);
    return true;
  };
}

describe('a failed model call', () => {
  const harness = useCallModel();

  describe('configuration', () => {
    for (const [model, message] of [
      ['openrouter/x', /set OPENROUTER_API_KEY, or OPENROUTER_BASE_URL/],
      ['demo/chat', /set DEMO_API_KEY, or DEMO_BASE_URL/],
      ['unheard/of', /has to begin with one of openai\/, anthropic\//],
      ['constructor/x', /has to begin with one of/],
      ['gpt-5', /has to begin with one of/],
    ] as const) {
      it(`answers MODEL_NOT_CONFIGURED for ${model} and says what to do`, async () => {
        await assert.rejects(harness.call({ model }), fails('MODEL_NOT_CONFIGURED', message));
        assert.equal(harness.server.calls.length, 0);
      });
    }

    for (const wrong of [{ apiKey: 'key-of-the-test\nX-Other: 1' }, { baseUrl: 'key-of-the-test' }]) {
      it(`answers MODEL_NOT_CONFIGURED for ${JSON.stringify(wrong)} without quoting it`, async () => {
        Object.assign(harness.server.provider, wrong);
        await assert.rejects(
          harness.call(),
          fails('MODEL_NOT_CONFIGURED', /OPENAI_BASE_URL .* OPENAI_API_KEY/),
        );
      });
    }
  });

  describe('failures worth repeating', () => {
    for (const status of [408, 409, 429, 500, 502, 503, 529]) {
      it(`is ModelUnavailable after one call with status ${status}`, async () => {
        const failure = harness.callAfter(respond(status, { error: { message: 'busy, key-of-the-test' } }));
        await assert.rejects(failure, unavailable(new RegExp(`status ${status}.*busy`)));
        assert.equal(harness.server.calls.length, 1);
      });
    }

    const garbled: [string, Behaviour, RegExp][] = [
      ['the connection is reset mid-body', resetMidBody, /cannot be reached: the connection was broken off/],
      ['the body is not JSON', respond(200, '{"choices":'), /invalid JSON/],
      [
        'the body is a web page',
        respond(200, '<html>', { 'content-type': 'text/html' }),
        /not a chat completion/,
      ],
      ['the body has no choices', respond(200, { choices: [] }), /not a chat completion/],
      ['the body is empty', respond(200, ''), /can't be used|invalid JSON/],
      ['there is no body', (response) => response.writeHead(204).end(), /not a chat completion/],
    ];
    for (const [name, behaviour, message] of garbled) {
      it(`is ModelUnavailable, and not worth many times its price, when ${name}`, () =>
        assert.rejects(harness.callAfter(behaviour), unavailable(message, undefined, true)));
    }

    it('is ModelUnavailable when a gateway reports an error with 200', () =>
      assert.rejects(
        harness.callAfter(respond(200, { error: { message: 'upstream' } })),
        unavailable(/upstream/, undefined, false),
      ));

    it('is ModelUnavailable when nothing listens', async () => {
      await harness.server.close();
      await assert.rejects(harness.call(), unavailable(/cannot be reached: the connection was refused\.$/));
      harness.server = await startFakeModelServer();
    });

    for (const [name, behaviour] of Object.entries({ hang, hangMidBody })) {
      it(`is ModelUnavailable when 120 s pass (${name})`, async () => {
        mock.timers.enable({ apis: ['setTimeout'] });
        const received = Promise.withResolvers<void>();
        const onHeaders = () => setImmediate(received.resolve);
        subscribe('undici:request:headers', onHeaders);
        try {
          const called = harness.server.nextCall();
          const failure = assert.rejects(harness.callAfter(behaviour), unavailable(/within 120 s/));
          await called;
          if (behaviour === hangMidBody) await received.promise;
          mock.timers.tick(MODEL_CALL_TIMEOUT_MS);
          await failure;
        } finally {
          unsubscribe('undici:request:headers', onHeaders);
          mock.timers.reset();
        }
      });
    }
  });

  describe('Retry-After', () => {
    const waits: [string, Record<string, string>, number | undefined][] = [
      ['seconds', { 'retry-after': '7' }, 7_000],
      ['milliseconds, which win', { 'retry-after-ms': '250', 'retry-after': '7' }, 250],
      ['more than 60 s, capped', { 'retry-after': '86400' }, 60_000],
      ['a date far off, capped', { 'retry-after': 'Fri, 31 Dec 2199 23:59:59 GMT' }, 60_000],
      ['a date gone by', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, undefined],
      ['zero', { 'retry-after': '0' }, undefined],
      ['nonsense', { 'retry-after': 'soon' }, undefined],
      ['nothing', {}, undefined],
    ];
    for (const [name, headers, expected] of waits) {
      it(`is passed on: ${name}`, () =>
        assert.rejects(harness.callAfter(respond(429, {}, headers)), unavailable(/429/, expected)));
    }
  });

  describe('answers that were paid and are none', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    const message = { role: 'assistant', content: 'Yes.' };
    for (const [name, body] of [
      ['has no choices', { choices: [], usage }],
      ['has nothing but its usage', { usage }],
      ['has a choice without a message', { choices: [{ index: 0 }] }],
      ['has a choice that is none', { choices: [null], usage }],
      ['says something that is no text', { choices: [{ message: { ...message, content: 7 } }], usage }],
      ['has a finish_reason that is no text', { choices: [{ message, finish_reason: {} }], usage }],
    ] as const)
      it(`is MODEL_OUTPUT_INVALID, never ModelUnavailable, when it ${name}`, async () => {
        await assert.rejects(
          harness.callAfter(respond(200, body)),
          fails('MODEL_OUTPUT_INVALID', /is not a chat completion/),
        );
        assert.equal(harness.usage.promptTokens, 'usage' in body ? 10 : 0);
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
    for (const status of [400, 402, 404, 422]) {
      it(`is MODEL_REFUSED with the provider's words at ${status}`, async () => {
        const body = {
          error: { message: `no such thing as sk-abc***xyz or key-of-the-test ${'!'.repeat(1_000)}` },
        };
        await assert.rejects(harness.callAfter(respond(status, body)), (error: Error) => {
          assert.ok(error.message.length < 700);
          return fails('MODEL_REFUSED', /no such thing as \[key\] or \[key\]/)(error);
        });
        assert.equal(harness.server.calls.length, 1);
      });
    }

    it("reads Google's error bodies, which are arrays", () =>
      assert.rejects(
        harness.callAfter(respond(400, [{ error: { code: 400, message: 'unknown field' } }])),
        fails('MODEL_REFUSED', /unknown field/),
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
      const deep = '['.repeat(50_000) + ']'.repeat(50_000);
      for (const error of [`{"message":"no","details":${deep}}`, deep]) {
        harness.server.will(respond(400, `{"error":${error}}`));
        await assert.rejects(harness.call(), fails('MODEL_REFUSED', /status 400/));
      }
    });

    it('is OUTPUT_TOO_LARGE when the answer does not end', () =>
      assert.rejects(harness.callAfter(sendForever), fails('OUTPUT_TOO_LARGE', /16 MiB/)));

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

    it('is MODEL_OUTPUT_INVALID when the answer is cut off', () =>
      assert.rejects(
        harness.callAfter(answer('Once upon', { finish_reason: 'length' })),
        fails('MODEL_OUTPUT_INVALID', /max_tokens/),
      ));
  });
});

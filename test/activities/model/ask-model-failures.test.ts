import assert from 'node:assert/strict';
import { ModelUnavailable } from '../../../activities/attempts/model-unavailable.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import {
  type Behaviour,
  hang,
  hangMidBody,
  resetMidBody,
  respond,
  startFakeModelServer,
} from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

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
  const harness = useAskModel();

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
        const metrics = captureMetrics();
        const failure = harness.callAfter(respond(status, { error: { message: 'busy, key-of-the-test' } }));
        await assert.rejects(failure, unavailable(new RegExp(`status ${status}.*busy`)));
        assert.equal(harness.server.calls.length, 1);
        const [counted = '', ...others] = Object.keys(await metrics.read('gen_ai.client.operation.duration'));
        metrics.stop();
        assert.match(counted, RegExp(`,error\\.type=${status}$`));
        assert.deepEqual(others, []);
      });
    }

    for (const [key, own] of [
      ['own', true],
      ['service', undefined],
    ] as const)
      it(`is measured by whose key was sent (${key})`, async () => {
        const metrics = captureMetrics();
        harness.server.will(respond(429, {}));
        const begin = async () => ({ ...harness.server.provider, ...(own && { own }) });
        await assert.rejects(harness.call({}, undefined, { begin }), unavailable(/429/));
        const [counted = ''] = Object.keys(await metrics.read('gen_ai.client.operation.duration'));
        metrics.stop();
        assert.match(counted, RegExp(`,weir\\.model\\.key=${key},`));
      });

    const garbled: [string, Behaviour, RegExp][] = [
      ['the connection is reset mid-body', resetMidBody, /cannot be reached: the connection was broken off/],
      ['the body is not JSON', respond(200, '{"choices":'), /invalid JSON/],
      ['the body is a web page', respond(200, '<html>', { 'content-type': 'text/html' }), /invalid JSON/],
      ['the body has no choices', respond(200, { choices: [] }), /not a chat completion/],
      ['its choices are null', respond(200, { choices: null }), /not a chat completion/],
      ['its choice has no message', respond(200, { choices: [{ index: 0 }] }), /not a chat completion/],
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
      it(`is not repeated when its time has passed, since it may be billed all the same (${name})`, async () => {
        harness.server.will(behaviour);
        await assert.rejects(
          harness.call({ processor_config: { timeout_ms: 500 } }),
          fails('MODEL_UNAVAILABLE', /within 0\.5 s: processor_config\.timeout_ms/),
        );
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
});

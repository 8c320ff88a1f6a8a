// The status of an error answer decides, whatever becomes of its body (activities/model/fetch-answer.ts).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { ModelUnavailable } from '../../../activities/attempts/model-unavailable.ts';
import { MODEL_ANSWER_MAX_BYTES } from '../../../activities/model/fetch-answer.ts';
import type { Behaviour } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const RETRY_AFTER = { 'retry-after': '7' };

/** Begins an answer, and leaves the rest to `then`. */
function begin(
  status: number,
  headers: Record<string, string | number> = {},
  then: Behaviour = () => undefined,
): Behaviour {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.write('{"error":{"message":"the start, ', () => then(response));
  };
}

const reset: Behaviour = (response) => void response.destroy();

const flood: Behaviour = (response) => {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  const send = () => {
    while (response.write(chunk) && !response.destroyed);
  };
  response.on('drain', send);
  send();
};

function unavailable(status: number, retryAfterMs?: number) {
  return (error: unknown) => {
    assert.ok(error instanceof ModelUnavailable, String(error));
    assert.match(error.message, RegExp(`\\(status ${status}\\): .*the start`));
    const { isUnreadable } = error;
    assert.deepEqual([error.status, error.retryAfterMs, isUnreadable], [status, retryAfterMs, false]);
    return true;
  };
}

describe('an error answer of a provider', () => {
  const harness = useAskModel();

  it('is repeated after its Retry-After when its body never ends', async () => {
    harness.server.will(begin(503, RETRY_AFTER));
    const closed = harness.server.nextCall().then((response) => once(response, 'close'));
    await assert.rejects(harness.call(), unavailable(503, 7_000));
    await closed;
  });

  it('is repeated when the time of the request ends within its body', async () => {
    harness.server.will(begin(503, RETRY_AFTER));
    const call = harness.call({ processor_config: { timeout_ms: 1_500 } });
    await assert.rejects(call, unavailable(503, 7_000));
  });

  it('is repeated after its Retry-After when its body is reset', () =>
    assert.rejects(harness.callAfter(begin(429, RETRY_AFTER, reset)), unavailable(429, 7_000)));

  for (const [name, behaviour] of [
    ['has more than 16 MiB', begin(500, {}, flood)],
    ['says that it has', begin(500, { 'content-length': MODEL_ANSWER_MAX_BYTES + 1 })],
  ] as const)
    it(`is repeated, and costs nothing, when its body ${name}`, async () => {
      harness.server.will(behaviour);
      const closed = harness.server.nextCall().then((response) => once(response, 'close'));
      await assert.rejects(harness.call(), unavailable(500));
      await closed;
      assert.equal(harness.usage.costMicrocredits, 0);
    });

  for (const [name, then] of Object.entries({ reset, flood }))
    it(`says that a key of one's own is rejected by status 401, whatever its body does (${name})`, async () => {
      harness.server.will(begin(401, {}, then));
      const own = async () => ({ ...harness.server.provider, own: true as const });
      await assert.rejects(harness.call({}, undefined, { begin: own }), fails('BYOK_REJECTED', /the start/));
    });

  it('does not hide that its run was cancelled', async () => {
    const cancelling = new AbortController();
    harness.server.will(begin(503));
    const called = harness.server.nextCall();
    const calling = harness.call({}, cancelling.signal);
    await called;
    cancelling.abort(new Error('cancelled'));
    await assert.rejects(calling, /cancelled/);
  });
});

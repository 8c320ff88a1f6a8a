import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ModelUnavailable } from '../../../activities/attempts/model-unavailable.ts';
import { createProviderOutages, type ProviderOutages } from '../../../activities/model/provider-outages.ts';
import { type ErrorCode, ServiceError } from '../../../flow/errors.ts';
import type { Provider } from '../../../platform/config/config.ts';
import { captureLog } from '../../capture-log.ts';

const provider: Provider = {
  name: 'p',
  api: 'openai-chat',
  baseUrl: 'http://127.0.0.1:1/v1',
  apiKey: 'key-of-the-test',
};
const refusal = (code: ErrorCode, message = 'said by the provider') => new ServiceError(code, message);

describe('a model provider that fails, in the log', () => {
  let captured: ReturnType<typeof captureLog>;
  let outages: ProviderOutages;
  beforeEach(() => {
    outages = createProviderOutages();
    captured = captureLog();
  });
  afterEach(() => captured.stop());

  /** Has a request to a provider fail with an error, and returns the reasons that the log has. */
  async function reasonsAfter(error: Error, own?: true): Promise<unknown[]> {
    const fail = () => Promise.reject(error);
    await assert.rejects(outages.report('p/model', { ...provider, ...(own && { own }) }, fail), error);
    return captured.lines.map(({ msg, reason }) => {
      assert.equal(msg, 'The provider p is away: what needs it fails or waits.');
      return reason;
    });
  }

  it('is away when it answers with an error, without what it said', async () => {
    const error = new ModelUnavailable('p/model is unavailable (status 529): you asked for …', {
      status: 529,
    });
    assert.deepEqual(await reasonsAfter(error), ['it answers with status 529']);
  });

  it('is away when it cannot be reached', async () => {
    const message = 'p/model cannot be reached: the connection was refused.';
    assert.deepEqual(await reasonsAfter(new ModelUnavailable(message)), [message]);
  });

  it('is away when it rejects the key of the configuration', async () => {
    const reasons = await reasonsAfter(refusal('MODEL_KEY_REJECTED'));
    assert.deepEqual(reasons, ['it rejects the key in P_API_KEY']);
  });

  it('is away when the quota of that key is used up', async () => {
    const reasons = await reasonsAfter(refusal('MODEL_QUOTA_EXCEEDED'));
    assert.deepEqual(reasons, ['the quota of the key in P_API_KEY is used up']);
  });

  it('is a line, however many calls it fails', async () => {
    for (let calls = 0; calls < 3; calls += 1) await reasonsAfter(refusal('MODEL_KEY_REJECTED'));
    assert.equal(captured.lines.length, 1);
  });

  for (const code of ['MODEL_REFUSED', 'MODEL_OUTPUT_INVALID', 'MODEL_UNAVAILABLE'] as const)
    it(`is not away when a flow is the reason: ${code}`, async () => {
      assert.deepEqual(await reasonsAfter(refusal(code)), []);
    });

  it('is away when requests are under way and none is answered for two minutes', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    const hanging = Promise.withResolvers<string>();
    const asked = outages.report('p/model', provider, () => hanging.promise);
    try {
      mock.timers.tick(60_000);
      await outages.report('p/other', provider, async () => 'hello');
      mock.timers.tick(60_000);
      assert.deepEqual(captured.lines, []);
      mock.timers.tick(120_000);
      assert.deepEqual(
        captured.lines.map(({ reason }) => reason),
        ['it has answered no request for two minutes'],
      );
      hanging.resolve('late');
      assert.equal(await asked, 'late');
      mock.timers.tick(240_000);
      assert.equal(captured.lines.length, 1);
    } finally {
      mock.timers.reset();
    }
  });

  it("is not away when it refuses a caller's own key", async () => {
    assert.deepEqual(await reasonsAfter(refusal('BYOK_REJECTED'), true), []);
    assert.deepEqual(await reasonsAfter(new ModelUnavailable('busy', { status: 429 }), true), []);
  });
});

// A provider that answers nothing holds up no calls of another: each has a gate of its own (platform/limits/gates.ts).
import assert from 'node:assert/strict';
import { llm } from '../../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../../fakes/counting-model-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

const PLACES = 4;
/** Far more than may be in flight. */
const CROWD = PLACES + 250;

describe('while a provider is silent', () => {
  let silent: CountingModelServer;
  let sound: CountingModelServer;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    [silent, sound] = await Promise.all([startCountingModelServer(0), startCountingModelServer(0)]);
    weir = await startWeir({
      env: {
        DEMO_BASE_URL: silent.url,
        OLLAMA_BASE_URL: sound.url,
        WEIR_MODEL_CONCURRENCY: String(PLACES),
      },
    });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await Promise.all([silent.close(), sound.close()]);
  });

  const startAll = (flow: string, count: number, message = 'm'): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, n) => {
        const job = { key: tenant.key, body: { message: `${message}${n}` } };
        const { status, body } = await weir.call('POST', `${flow}/jobs`, job);
        assert.equal(status, 202, JSON.stringify(body));
        return body.executionId;
      }),
    );
  const finishAll = async (flow: string, ids: string[]) => {
    for (const id of ids) assert.equal((await weir.finish(flow, id, tenant.key)).body.status, 'completed');
  };
  const pendingActivities = async (id = '') => {
    const { raw } = await weir.client.workflow.getHandle(id).describe();
    return raw.pendingActivities ?? [];
  };

  it('its calls have their concurrency, and those to another begin, of the same organization and of others', async () => {
    const toSilent = await weir.createFlow(tenant, [llm('ask', '{{message}}', 'demo/chat')]);
    const held = silent.hold('m');
    const started = await startAll(toSilent, 2 * PLACES);
    await held.arrived(PLACES);
    for (const caller of [tenant, await weir.createTenant()]) {
      const toSound = await weir.createFlow(caller, [llm('ask', '{{message}}', 'ollama/chat')]);
      const { body } = await weir.call('POST', `${toSound}/execute`, {
        key: caller.key,
        body: { message: 'hello' },
      });
      assert.equal(body.result, 'answer to hello', JSON.stringify(body));
    }
    assert.equal(silent.asked.size, PLACES);

    held.release();
    await finishAll(toSilent, started);
  });

  it('many jobs that wait for it leave room for calls that take long to another', async () => {
    const toSilent = await weir.createFlow(tenant, [llm('ask', '{{message}}', 'demo/chat')]);
    const toSlow = await weir.createFlow(tenant, [llm('ask', '{{message}}', 'ollama/slow')]);
    const slow = sound.hold('slow');
    const first = await startAll(toSlow, 1, 'slow first');
    await slow.arrived(1);
    // It has taken so long by now that the next one begins as an activity.
    await waitUntil(async () => (await pendingActivities(first[0])).length === 1);
    slow.release();
    await finishAll(toSlow, first);

    const held = silent.hold('crowd');
    const started = await startAll(toSilent, CROWD, 'crowd');
    await held.arrived(PLACES);
    await waitUntil(async () => (await pendingActivities(started[CROWD - 1])).length === 1);
    await finishAll(toSlow, await startAll(toSlow, 1, 'slow second'));
    held.release();
    await finishAll(toSilent, started);
  });
});

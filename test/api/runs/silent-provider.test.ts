// A provider that answers nothing keeps a part of the model calls of a worker, never all (worker/create-model-places.ts).
import assert from 'node:assert/strict';
import { llm } from '../../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../../fakes/counting-model-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

const PLACES = 4;
/** Calls to one provider of an organization that is alone there. */
const OF_PROVIDER = 3;

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

  it('its calls have their share, and those to another begin, of the same organization and of others', async () => {
    const { key } = tenant;
    const toSilent = await weir.createFlow(tenant, [llm('ask', '{{message}}', 'demo/chat')]);
    const held = silent.hold('m');
    const started = await Promise.all(
      Array.from({ length: 2 * PLACES }, (_, n) =>
        weir.call('POST', `${toSilent}/jobs`, { key, body: { message: `m${n}` } }),
      ),
    );
    await held.arrived(OF_PROVIDER);
    for (const caller of [tenant, await weir.createTenant()]) {
      const toSound = await weir.createFlow(caller, [llm('ask', '{{message}}', 'ollama/chat')]);
      const { body } = await weir.call('POST', `${toSound}/execute`, {
        key: caller.key,
        body: { message: 'hello' },
      });
      assert.equal(body.result, 'answer to hello', JSON.stringify(body));
    }
    assert.equal(silent.asked.size, OF_PROVIDER);

    held.release();
    for (const { body } of started)
      assert.equal((await weir.finish(toSilent, body.executionId, key)).body.status, 'completed');
  });
});

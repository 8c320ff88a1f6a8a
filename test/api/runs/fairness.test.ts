import assert from 'node:assert/strict';
import { llm } from '../../blocks.ts';
import { answer, type FakeModelServer, hang, startFakeModelServer } from '../../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

const BACKLOG = 20;
/** Places for organizations that have none, beside the one of WEIR_MODEL_CONCURRENCY (worker/create-model-places.ts). */
const RESERVE = 4;

describe('runs that wait for a worker', () => {
  let weir: Weir;
  let models: FakeModelServer;
  before(async () => {
    models = await startFakeModelServer();
    weir = await startWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl, WEIR_MODEL_CONCURRENCY: '1' } });
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  it('are taken from each organization in turn: one does not wait for the backlog of another', async () => {
    const [busy, other] = [await weir.createTenant(), await weir.createTenant()];
    const flowOf = (tenant: Tenant, prompt: string) =>
      weir.createFlow(tenant, [llm('ask', prompt, 'demo/model')]);
    const [busyFlow, otherFlow] = [await flowOf(busy, 'busy'), await flowOf(other, 'other')];
    models.will(...Array.from({ length: RESERVE + 1 }, () => hang));
    for (let index = 0; index < RESERVE; index += 1) {
      const crowd = await weir.createTenant();
      await waitForActivity(await start(crowd, await flowOf(crowd, 'crowd')));
    }
    const held = models.nextCall();
    await waitForActivity(await start(busy, busyFlow));
    const response = await held;
    for (let index = 0; index < BACKLOG; index += 1) await waitForActivity(await start(busy, busyFlow));
    const last = await start(other, otherFlow);
    await waitForActivity(last);
    models.will(...Array.from({ length: BACKLOG + 1 }, () => answer('done')));
    answer('done')(response);
    await weir.finish(otherFlow, last, other.key);
    const before = models.calls.findIndex(({ body }) => JSON.stringify(body).includes('other'));
    assert(before < BACKLOG / 2, `${before} of the busy one's were taken before`);
  });

  const start = async (tenant: Tenant, flow: string): Promise<string> =>
    (await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } })).body.executionId;

  /** Waits until the run has an activity: some make their calls, the others wait. */
  const waitForActivity = (executionId: string) =>
    waitUntil(async () => {
      const { raw } = await weir.client.workflow.getHandle(executionId).describe();
      return raw.pendingActivities?.length;
    });
});

import assert from 'node:assert/strict';
import { llm } from '../../blocks.ts';
import { answer, type FakeModelServer, hang, startFakeModelServer } from '../../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

const BACKLOG = 20;

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
    models.will(hang);
    const held = models.nextCall();
    await waitForWorker(await start(busy, busyFlow), 'STARTED');
    const response = await held;
    for (let index = 0; index < BACKLOG; index += 1)
      await waitForWorker(await start(busy, busyFlow), 'SCHEDULED');
    const last = await start(other, otherFlow);
    await waitForWorker(last, 'SCHEDULED');
    models.will(...Array.from({ length: BACKLOG + 1 }, () => answer('done')));
    answer('done')(response);
    await weir.finish(otherFlow, last, other.key);
    const before = models.calls.findIndex(({ body }) => JSON.stringify(body).includes('other'));
    assert(before < BACKLOG / 2, `${before} of the busy one's were taken before`);
  });

  const start = async (tenant: Tenant, flow: string): Promise<string> =>
    (await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } })).body.executionId;

  /** Waits until the run's activity is in this state: of several activities, one is started and the others wait for it. */
  async function waitForWorker(executionId: string, state: 'STARTED' | 'SCHEDULED'): Promise<void> {
    for (;;) {
      const { raw } = await weir.client.workflow.getHandle(executionId).describe();
      const pending = raw.pendingActivities?.[0];
      if (pending && String(pending.state) === String(STATES[state])) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});

/** PendingActivityState of Temporal's API. */
const STATES = { SCHEDULED: 1, STARTED: 2 };

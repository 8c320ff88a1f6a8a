// Slow model calls of one organization, and what they hold, leave room for those of others (platform/limits/gates.ts).
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { ACTIVITY_BYTES_EACH } from '../../../platform/limits/gates.ts';
import { llm } from '../../blocks.ts';
import { answer, type FakeModelServer, startFakeModelServer } from '../../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

const PLACES = 2;
const LARGE = 'x'.repeat(300_000);

describe('slow model calls of one organization', () => {
  let weir: Weir;
  let models: FakeModelServer;
  let hostile: Tenant;
  let innocent: Tenant;
  /** Calls that the model has not answered. */
  let held: ServerResponse[];
  before(async () => {
    models = await startFakeModelServer();
    weir = await startWeir({
      env: { DEMO_BASE_URL: models.provider.baseUrl, WEIR_MODEL_CONCURRENCY: String(PLACES) },
    });
  });
  beforeEach(async () => {
    [hostile, innocent] = [await weir.createTenant(), await weir.createTenant()];
    held = [];
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  const hold = (response: ServerResponse) => void held.push(response);
  const createFlow = (tenant: Tenant, prompt = '{{message}}') =>
    weir.createFlow(tenant, [llm('ask', prompt, `demo/${prompt.length}`)]);
  const start = async (flow: string, message: string): Promise<string> =>
    (await weir.call('POST', `${flow}/jobs`, { key: hostile.key, body: { message } })).body.executionId;
  const execute = async (flow: string, tenant: Tenant, message: string) =>
    (await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message } })).body;
  const finish = async (flow: string, executionId: string): Promise<string> =>
    (await weir.finish(flow, executionId, hostile.key)).body.status;
  const isActivity = async (executionId: string) =>
    ((await weir.client.workflow.getHandle(executionId).describe()).raw.pendingActivities?.length ?? 0) > 0;
  const areActivities = async (runs: string[]) => (await Promise.all(runs.map(isActivity))).every(Boolean);
  const takeAll = (gate: 'inputs' | 'prompts') =>
    weir.gates[gate].tryAcquire(hostile.organizationId, { weight: ACTIVITY_BYTES_EACH });
  /** Whether the hostile organization's whole share of a gate is free. */
  function isFree(gate: 'inputs' | 'prompts'): boolean {
    using permit = takeAll(gate);
    return permit !== undefined;
  }

  it('hold up nobody when they are more than it has places: calls of another are made before any of them ends', async () => {
    const flow = await createFlow(hostile);
    models.will(hold, hold);
    const runs = await Promise.all(Array.from({ length: 4 * PLACES }, () => start(flow, 'm')));
    await waitUntil(async () => held.length === PLACES && (await areActivities(runs)));

    const other = await createFlow(innocent);
    for (const text of ['a', 'b']) {
      models.will(answer(text));
      assert.equal((await execute(other, innocent, 'm')).result, text);
    }
    assert.equal(held.length, PLACES);

    models.will(...Array.from({ length: 3 * PLACES }, () => answer('done')));
    const freed = new Date();
    for (const response of held) answer('done')(response);
    for (const run of runs) assert.equal(await finish(flow, run), 'completed');
    const begun = await weir.db
      .selectFrom('block_run')
      .select('started_at')
      .where('execution_id', 'in', runs)
      .where('started_at', '>=', freed)
      .execute();
    assert.equal(begun.length, 3 * PLACES, 'the time of a block has its wait in it');
  });

  it('hold their prompts and no inputs', async () => {
    const flow = await createFlow(hostile);
    models.will(hold);
    const run = await start(flow, LARGE);
    await waitUntil(async () => held.length === 1);
    assert.deepEqual([isFree('inputs'), isFree('prompts')], [true, false]);
    answer('done')(held[0] as ServerResponse);
    assert.equal(await finish(flow, run), 'completed');
    await waitUntil(async () => isFree('prompts'));
  });

  it('hold so many prompts at a time: another waits; small ones and those of others go on', async () => {
    const flow = await createFlow(hostile);
    const permit = takeAll('prompts');
    const asked = models.calls.length;
    const run = await start(flow, LARGE);
    await waitUntil(async () => weir.gates.prompts.count().queued === 1);
    models.will(answer('small'));
    assert.equal((await execute(flow, hostile, 'm')).result, 'small');
    models.will(answer('other'));
    assert.equal((await execute(await createFlow(innocent), innocent, LARGE)).result, 'other');
    assert.equal(models.calls.length, asked + 2);

    models.will(answer('large'));
    permit?.release();
    assert.equal(await finish(flow, run), 'completed');
    assert.equal(JSON.stringify(models.calls.at(-1)?.body).includes(LARGE), true);
  });
});

// One organization floods a service of several API processes and workers; another's runs are carried out in turn with its own.
import assert from 'node:assert/strict';
import { passthrough } from '../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { startApiProcess } from './api-process.ts';
import { type Program, startProgram } from './processes.ts';
import { faultSize } from './sizes.ts';

const FLOOD = faultSize(400, 4_000);
const AT_ONCE = 20;
const OTHERS = 10;
const TIMEOUT_MS = faultSize(300, 1_200) * 1_000;

describe('a service of several processes that one organization floods', () => {
  let weir: Weir;
  let busy: Tenant;
  let other: Tenant;
  let flows: Map<Tenant, string>;
  const programs: Program[] = [];
  let apis: { url: string }[];
  before(async () => {
    weir = await startWeir();
    // It has registered the search attributes with which runs are started.
    await weir.stopWorker();
    [busy, other] = [await weir.createTenant(), await weir.createTenant()];
    flows = new Map();
    for (const tenant of [busy, other])
      flows.set(tenant, await weir.createFlow(tenant, [passthrough('only')]));
    const started = await Promise.all([startApiProcess(weir), startApiProcess(weir)]);
    programs.push(...started);
    apis = started;
  });
  after(async () => {
    await Promise.all(programs.map((program) => program.kill()));
    await weir.stop();
  });

  const send = (tenant: Tenant, mode: 'jobs' | 'execute', index: number) =>
    weir.call('POST', `${flows.get(tenant)}/${mode}`, {
      key: tenant.key,
      body: { message: `${index}` },
      url: apis[index % apis.length]?.url,
    });
  const sendMany = (tenant: Tenant, mode: 'jobs' | 'execute', count: number, from = 0) =>
    Promise.all(Array.from({ length: count }, (_, index) => send(tenant, mode, from + index)));

  const listEnded = () =>
    weir.db
      .selectFrom('run')
      .select(['organization_id', 'mode', 'status'])
      .where('finished_at', 'is not', null)
      .orderBy('finished_at')
      .execute();

  /** Whether the engine has all runs that the other organization waits for. */
  async function areAllStarted(): Promise<boolean> {
    const rows = await weir.db
      .selectFrom('run')
      .select('execution_id')
      .where('mode', '=', 'execute')
      .execute();
    const described = rows.map(({ execution_id }) => weir.client.workflow.getHandle(execution_id).describe());
    const found = (await Promise.allSettled(described)).filter(({ status }) => status === 'fulfilled');
    return found.length === OTHERS;
  }

  it('carries out what another organization asks for before half of the flood, and loses nothing', async () => {
    for (let sent = 0; sent < FLOOD; sent += AT_ONCE) {
      const flood = await sendMany(busy, 'jobs', AT_ONCE, sent);
      assert.deepEqual([...new Set(flood.map(({ status }) => status))], [202]);
    }
    // All of the flood is with the engine, and nobody carries it out yet.
    const jobs = await sendMany(other, 'jobs', OTHERS);
    assert.deepEqual([...new Set(jobs.map(({ status }) => status))], [202]);
    const answers = sendMany(other, 'execute', OTHERS);
    await waitUntil(areAllStarted);
    const workers = [startProgram(weir, 'worker/worker.ts'), startProgram(weir, 'worker/worker.ts')];
    programs.push(...(await Promise.all(workers)));
    const statuses = (await answers).map(({ body }) => body.status);
    assert.deepEqual([...new Set(statuses)], ['completed']);
    const ended = await waitUntil(async () => {
      const rows = await listEnded();
      return rows.length === FLOOD + 2 * OTHERS && rows;
    });
    assert(ended.every(({ status }) => status === 'completed'));
    for (const mode of ['jobs', 'execute']) {
      let ofBusy = 0;
      const before: number[] = [];
      for (const row of ended)
        if (row.organization_id === busy.organizationId) ofBusy += 1;
        else if (row.mode === mode) before.push(ofBusy);
      const median = before[OTHERS / 2] as number;
      assert(
        median < FLOOD / 2,
        `${before.join(', ')} of the flood ended before the other's runs of ${mode}`,
      );
    }
  }).timeout(TIMEOUT_MS);
});

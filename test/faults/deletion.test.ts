// A project is deleted while its runs, test runs and deliveries are under way, and the process that did it dies.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { grantCredits } from '../../db/credits/ledger.ts';
import { releaseLeftReservations } from '../../db/credits/reservations.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import { llm, passthrough } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { type IdentityProvider, startIdentityProvider } from '../fakes/identity-provider.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { createOrganization, type Organization } from '../organization.ts';
import { waitUntil } from '../wait-until.ts';
import { startApiProcess } from './api-process.ts';
import { auditRuns } from './audit-runs.ts';
import { type Program, startProgram } from './processes.ts';
import { faultSize } from './sizes.ts';

const RUNS = faultSize(60, 3_000);
/** The number of them that have been charged for a block when the project is deleted. */
const CHARGED = faultSize(30, 100);
const BLOCKS = 12;
/** More than all runs together cost. */
const CREDITS = 100_000;
const INNOCENT = faultSize(5, 50);
const DELIVERIES = 10;
const AT_ONCE = 8;
const TIMEOUT_MS = faultSize(300, 1_200) * 1_000;
const HOST = 'hook.test';

describe('a deletion under load', () => {
  let provider: IdentityProvider;
  let models: CountingModelServer;
  let weir: Weir;
  let env: NodeJS.ProcessEnv;
  let worker: Program;
  let about: Organization;
  before(async () => {
    provider = await startIdentityProvider();
    models = await startCountingModelServer(200);
    env = {
      ...provider.env,
      DEMO_BASE_URL: models.url,
      WEIR_TEST_DIAL_MAP: JSON.stringify({ [HOST]: '127.0.0.1:1' }),
    };
    weir = await startWeir({ env, worker: false });
    worker = await startProgram(weir, 'worker/worker.ts', env);
    about = await createOrganization(weir, provider);
    await grantCredits(weir.db, about.organizationId, CREDITS * MICROCREDITS_PER_CREDIT, 'grant/enough');
  });
  after(async () => {
    await worker.kill();
    await weir.stop();
    await models.close();
    await provider.close();
  });

  /** A few at a time; on a machine that is too slow to take one, it is sent again. */
  const accept = async (tenant: Tenant, flow: string, count: number, more: object = {}) => {
    const ids: string[] = [];
    let left = count;
    const headers = () => ({ 'idempotency-key': randomUUID() });
    const send = async (options: { key: string; body: object; headers: Record<string, string> }) => {
      for (;;) {
        const { status, body } = await weir.call('POST', `${flow}/jobs`, options);
        if (status === 202) return void ids.push(body.executionId);
        assert.equal(status, 503, JSON.stringify(body));
      }
    };
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (left-- > 0)
          await send({ key: tenant.key, body: { message: randomUUID(), ...more }, headers: headers() });
      }),
    );
    return ids;
  };
  const charges = async () => {
    const { count } = await weir.db
      .selectFrom('ledger_entry')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('organization_id', '=', about.organizationId)
      .where('kind', '=', 'charge')
      .executeTakeFirstOrThrow();
    return count;
  };
  const until = async (holds: () => Promise<boolean>) => {
    await waitUntil(holds);
  };
  const deliveries = (status: 'failed_retry' | 'failed_permanent') =>
    weir.db
      .selectFrom('webhook_delivery')
      .select('id')
      .where('organization_id', '=', about.organizationId)
      .where('status', '=', status)
      .execute();

  it('ends all of it and nothing else, and charges nothing after its answer', async () => {
    const api = await startApiProcess(weir, env);
    const quick = await weir.createFlow(about, [passthrough('a')]);
    await accept(about, quick, DELIVERIES, { callbackUrl: `https://${HOST}/` });
    await until(async () => (await deliveries('failed_retry')).length === DELIVERIES);
    const blocks = Array.from({ length: BLOCKS }, (_, index) =>
      llm(`b${index}`, `b${index} {{message}}`, 'demo/chat'),
    );
    const long = await weir.createFlow(about, blocks);
    const callback = { callbackUrl: `https://${HOST}/` };
    await accept(about, long, RUNS, callback);
    const other = await weir.createTenant();
    const flow = await weir.createFlow(other, blocks.slice(0, 3));
    const innocent = await accept(other, flow, INNOCENT);
    await until(async () => (await charges()) >= CHARGED);

    const began = performance.now();
    const answer = await weir.call('DELETE', `/projects/${about.projectId}`, {
      key: about.token.owner,
      url: api.url,
    });
    const ms = Math.round(performance.now() - began);
    const charged = await charges();
    await api.kill();
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const { runs, testRuns, deliveries: stopped } = answer.body.cancelled;
    const ended = await weir.db
      .selectFrom('run')
      .select('execution_id')
      .where('project_id', '=', about.projectId)
      .where('status', '=', 'completed')
      .execute();
    // A run that ended at that moment may be counted in both.
    assert.ok(runs + ended.length >= RUNS + DELIVERIES, `${runs} cancelled, ${ended.length} ended`);
    assert.equal(testRuns, 0);
    assert.ok(stopped >= DELIVERIES);
    console.log(`      ${runs} runs and ${stopped} deliveries were cancelled in ${ms} ms`);

    await until(async () => {
      const started = await weir.db
        .selectFrom('run')
        .select('execution_id')
        .where('project_id', '=', about.projectId)
        .where('status', '=', 'started')
        .limit(1)
        .execute();
      return started.length === 0;
    });
    const ends = await weir.db
      .selectFrom('run')
      .select(['status', 'error'])
      .where('project_id', '=', about.projectId)
      .where('status', '<>', 'completed')
      .execute();
    assert.deepEqual([...new Set(ends.map(({ error }) => error?.code))], ['CANCELLED']);
    assert.equal(await charges(), charged, 'something was charged after the answer');
    const open = await weir.db
      .selectFrom('webhook_delivery')
      .select('status')
      .where('organization_id', '=', about.organizationId)
      .where('status', 'in', ['pending', 'in_flight', 'failed_retry'])
      .execute();
    assert.deepEqual(open, []);
    assert.equal((await deliveries('failed_permanent')).length, stopped);
    await until(async () => {
      await releaseLeftReservations(weir.db);
      return (await weir.db.selectFrom('reservation').select('block_key').execute()).length === 0;
    });
    await auditRuns(weir, other, flow, innocent, { blocks: 3, charged: 3 });
  }).timeout(TIMEOUT_MS);
});

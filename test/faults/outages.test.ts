// Runs outlive outages: the database or the engine is away longer than any request waits, or workers die again and again.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startTemporal, type Temporal } from '../../dev/temporal/temporal.ts';
import { code, llm, passthrough } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { startTcpProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { auditRuns } from './audit-runs.ts';
import { type Program, startProgram } from './processes.ts';
import { faultSize } from './sizes.ts';

const RUNS = faultSize(10, 30);
/** Longer than a process repeats a write that nobody waits for. */
const DATABASE_AWAY_MS = faultSize(25, 300) * 1_000;
/** Shorter than the engine waits for the heartbeat of a slow model call: such a call is not repeated. */
const ENGINE_AWAY_MS = faultSize(15, 45) * 1_000;
const HEARTBEAT_TIMEOUT = String(faultSize(40, 75));
const CRASH_LOOP_KILLS = faultSize(3, 8);
const READY_KILLS = faultSize(4, 100);
/** After several lost attempts, the next one is delayed for minutes. */
const TIMEOUT_MS = faultSize(600, 3_600) * 1_000;

describe('an accepted run finishes', () => {
  let folder: string;
  let temporal: Temporal;
  let models: CountingModelServer;
  let weir: Weir;
  let database: TcpProxy;
  let tenant: Tenant;
  let flow: string;
  let env: NodeJS.ProcessEnv;
  const workers = new Set<Program>();

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'weir-outages-'));
    temporal = await startTemporal({ stateFolder: folder });
    models = await startCountingModelServer(100);
    env = {
      TEMPORAL_ADDRESS: temporal.address,
      DEMO_BASE_URL: models.url,
      WEIR_HEARTBEAT_TIMEOUT: HEARTBEAT_TIMEOUT,
    };
    weir = await startWeir({ env, worker: false });
    database = await startTcpProxy(weir.config.databaseUrl);
    env.DATABASE_URL = database.url;
    tenant = await weir.createTenant({ credits: 1_000_000 });
    flow = await weir.createFlow(tenant, [
      code('tag', 'return message;'),
      llm('one', 'one {{previous_output}}', 'demo/chat'),
      passthrough('keep'),
      // A model that a worker does not know: its first calls are regular activities.
      llm('two', 'two {{message}}', 'demo/vision'),
    ]);
  });
  after(async () => {
    await database.close();
    await weir.stop();
    await models.close();
    await temporal.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => models.asked.clear());
  afterEach(async () => {
    await Promise.all([...workers].map(kill));
    await database.restore();
  });

  /** Starts a worker that reaches the database through the proxy; this process, which accepts runs, reaches it directly. */
  async function startWorker(): Promise<Program> {
    const worker = await startProgram(weir, 'worker/worker.ts', env);
    workers.add(worker);
    return worker;
  }
  async function kill(worker: Program): Promise<void> {
    workers.delete(worker);
    await worker.kill();
  }
  async function accept(count = RUNS): Promise<string[]> {
    const answers = await Promise.all(
      Array.from({ length: count }, () =>
        weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: randomUUID() } }),
      ),
    );
    return answers.map(({ status, body }) => {
      assert.equal(status, 202);
      return body.executionId as string;
    });
  }
  const audit = (ids: string[]) => auditRuns(weir, tenant, flow, ids, { blocks: 4, charged: 2 });
  /** Counts recorded answers of the second model call. */
  const countAnswers = async (ids: string[]) =>
    (
      await weir.db
        .selectFrom('block_run')
        .select('step_id')
        .where('execution_id', 'in', ids)
        .where('step_id', '=', 'two')
        .execute()
    ).length;
  const assertAskedOnce = () =>
    assert.deepEqual(
      [...models.asked].filter(([, times]) => times > 1),
      [],
    );

  /** A line when the database went away and one when it was back, and nothing from each of those who needed it meanwhile. */
  async function assertToldInFewLines(worker: Program): Promise<void> {
    await waitUntil(async () => worker.errors().includes('"The database is back."'));
    const lines: { msg: string; err?: { message: string } }[] = worker
      .errors()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line));
    const told = lines.map(({ msg }) => msg).filter((msg) => /^The database is (away|back)/.test(msg));
    assert.deepEqual(told, ['The database is away: what needs it fails or waits.', 'The database is back.']);
    const others = lines.filter(({ err }) => /database|connection|ECONN/i.test(err?.message ?? ''));
    assert.deepEqual(others, []);
  }

  it('when the database is away after its models have answered: no answer is asked for again', async () => {
    const worker = await startWorker();
    const second = models.hold('two ');
    const held = await accept();
    await second.arrived(RUNS);
    await database.refuse();
    second.release();
    const begun = await accept();
    await setTimeout(DATABASE_AWAY_MS);
    await database.restore();
    await audit([...held, ...begun]);
    assertAskedOnce();
    await assertToldInFewLines(worker);
  }).timeout(TIMEOUT_MS);

  it('when its worker is replaced while the database is away: no answer is asked for again', async () => {
    const worker = await startWorker();
    const second = models.hold('two ');
    const ids = await accept();
    await second.arrived(RUNS);
    database.cut();
    second.release();
    assert.equal(await worker.stop(), 0);
    workers.delete(worker);
    const asked = database.connections();
    const next = startWorker();
    await waitUntil(async () => database.connections() > asked);
    await database.restore();
    await next;
    await audit(ids);
    assertAskedOnce();
  }).timeout(TIMEOUT_MS);

  it('when the engine is away while its models answer: no answer is asked for again', async () => {
    await startWorker();
    const second = models.hold('two ');
    const held = await accept();
    await second.arrived(RUNS);
    process.kill(temporal.child.pid, 'SIGKILL');
    await temporal.child.exited;
    const begun = await accept();
    await setTimeout(ENGINE_AWAY_MS);
    second.release();
    await waitUntil(async () => (await countAnswers(held)) === RUNS);
    temporal = await startTemporal({ stateFolder: folder, port: temporal.port });
    await audit([...held, ...begun]);
    assertAskedOnce();
  }).timeout(TIMEOUT_MS);

  it('when its only worker dies under its model call again and again', async () => {
    const second = models.hold('two ');
    const ids = await accept();
    const countAsked = () =>
      [...models.asked].reduce((sum, [prompt, times]) => sum + (prompt.startsWith('two ') ? times : 0), 0);
    for (let killed = 0; killed < CRASH_LOOP_KILLS; killed += 1) {
      const before = countAsked();
      const worker = await startWorker();
      if (killed === 0) await second.arrived(RUNS);
      else await waitUntil(() => countAsked() > before);
      await kill(worker);
    }
    second.release();
    await startWorker();
    await audit(ids);
  }).timeout(TIMEOUT_MS);

  it('when workers are killed as soon as they are ready', async () => {
    const ids: string[] = [];
    let worker = await startWorker();
    for (let killed = 0; killed < READY_KILLS; killed += 1) {
      ids.push(...(await accept(5)));
      const next = await startWorker();
      await kill(worker);
      worker = next;
    }
    await audit(ids);
  }).timeout(TIMEOUT_MS);
});

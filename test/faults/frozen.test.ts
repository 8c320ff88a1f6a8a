// A database or an engine that is there and does not answer, or takes no writes: nobody hangs, and nothing is lost.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Postgres, startPostgres } from '../../dev/postgres/postgres.ts';
import { startTemporal, type Temporal } from '../../dev/temporal/temporal.ts';
import { code, llm } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { type Answer, startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { startApiProcess } from './api-process.ts';
import { auditRuns } from './audit-runs.ts';
import { type Program, startProgram } from './processes.ts';
import { faultSize } from './sizes.ts';

const RUNS = faultSize(5, 50);
const AWAY_MS = faultSize(5, 120) * 1_000;
const ASKED_MS = 1_000;
const TIMEOUT_MS = faultSize(300, 1_800) * 1_000;

describe('while a part is frozen', () => {
  const shared = process.env.TEST_DATABASE_URL;
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-frozen-'));
  let postgres: Postgres;
  let temporal: Temporal;
  let models: CountingModelServer;
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  let api: Program & { url: string };
  let worker: Program;

  before(async () => {
    postgres = await startPostgres({ stateFolder: folder, password: randomUUID() });
    temporal = await startTemporal({ stateFolder: folder });
    models = await startCountingModelServer(100);
    const env = { TEMPORAL_ADDRESS: temporal.address, DEMO_BASE_URL: models.url };
    process.env.TEST_DATABASE_URL = postgres.url;
    weir = await startWeir({ env, worker: false });
    tenant = await weir.createTenant({ credits: 100_000 });
    flow = await weir.createFlow(tenant, [
      code('tag', 'return message;'),
      llm('one', 'one {{previous_output}}', 'demo/chat'),
      llm('two', 'two {{previous_output}}', 'demo/chat'),
    ]);
    api = await startApiProcess(weir, env);
    worker = await startProgram(weir, 'worker/worker.ts', env);
  });
  after(async () => {
    await Promise.all([api.kill(), worker.kill()]);
    await weir.stop();
    await models.close();
    await temporal.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
    if (shared === undefined) delete process.env.TEST_DATABASE_URL;
    else process.env.TEST_DATABASE_URL = shared;
  });
  beforeEach(() => models.asked.clear());

  const call = (method: string, path: string, body?: object) =>
    weir.call(method, path, { key: tenant.key, url: api.url, body });
  const start = async () => {
    const { status, body } = await call('POST', `${flow}/jobs`, { message: randomUUID() });
    assert.equal(status, 202);
    return body.executionId as string;
  };
  const audit = (ids: string[]) => auditRuns(weir, tenant, flow, ids, { blocks: 3, charged: 2 });
  const health = async (path: string) => {
    const response = await fetch(`${api.url}${path}`);
    return { code: response.status, ...((await response.json()) as { away: { [part: string]: string } }) };
  };
  const assert503 = ({ status, headers, body }: Answer, code: string) => {
    assert.deepEqual([status, body.detail.code], [503, code], JSON.stringify(body));
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
  };

  /** Runs whose model calls are answered in the middle of `during`, when it says so; another is for it to do with what it wants. */
  async function aroundModelCalls(
    during: (run: string, answer: () => void) => Promise<unknown>,
  ): Promise<string[]> {
    const first = models.hold('one ');
    const other = await start();
    const ids = await Promise.all(Array.from({ length: RUNS }, start));
    await first.arrived(RUNS + 1);
    await during(other, first.release);
    return ids;
  }

  it('the database: every request gets its 503, /readyz names it, and runs go on afterwards', async () => {
    const ids = await aroundModelCalls(async (run, answer) => {
      const pids = [postgres.child.pid, ...childrenOf(postgres.child.pid)];
      try {
        for (const pid of pids) signal(pid, 'SIGSTOP');
        answer();
        const until = performance.now() + AWAY_MS;
        do {
          const answers = await Promise.all([
            call('POST', `${flow}/execute`, { message: '' }),
            call('POST', `${flow}/jobs`, { message: '' }),
            call('POST', `${flow}/step`, { message: '', stepIndex: 0, executionId: null }),
            call('GET', `${flow}/jobs/${run}`),
            call('POST', `${flow}/jobs/${run}/cancel`),
            call('GET', `${flow}/jobs/${run}/fork?step=0`),
            call('GET', `${flow}/runs`),
            call('GET', `${flow}/jobs/${run}/events`),
            call('GET', `/organizations/${tenant.organizationId}/webhooks/deliveries`),
          ]);
          for (const answer of answers) assert503(answer, 'DATABASE_UNAVAILABLE');
          assert.equal((await health('/readyz')).code, 503);
          const { code, away } = await health('/healthz');
          assert.deepEqual([code, away.database], [200, 'does not answer']);
          await setTimeout(ASKED_MS);
        } while (performance.now() < until);
      } finally {
        for (const pid of pids) signal(pid, 'SIGCONT');
      }
    });
    await audit(ids);
    while ((await health('/readyz')).code !== 200) await setTimeout(ASKED_MS);
  }).timeout(TIMEOUT_MS);

  it('the engine: jobs are accepted, who waits gets a 503 with an executionId, and all of them finish', async () => {
    const accepted: string[] = [];
    const ids = await aroundModelCalls(async (run, answer) => {
      process.kill(temporal.child.pid, 'SIGSTOP');
      answer();
      try {
        const until = performance.now() + AWAY_MS;
        do {
          const [waiting, stream, asked] = await Promise.all([
            call('POST', `${flow}/execute`, { message: randomUUID() }),
            call('POST', `${flow}/step`, { message: '', stepIndex: 0, executionId: null }),
            call('GET', `${flow}/jobs/${run}`),
          ]);
          assert503(waiting, 'ENGINE_UNAVAILABLE');
          assert503(stream, 'ENGINE_UNAVAILABLE');
          assert.equal(asked.status, 200);
          accepted.push(waiting.body.detail.executionId, await start());
          const { code, away } = await health('/readyz');
          assert.deepEqual([code, away.engine], [503, 'does not answer']);
        } while (performance.now() < until);
      } finally {
        process.kill(temporal.child.pid, 'SIGCONT');
      }
    });
    await audit([...ids, ...accepted]);
  }).timeout(TIMEOUT_MS);

  it('as good as frozen, a database that takes no writes: what writes is 503, what reads is answered, runs go on afterwards', async () => {
    const readOnly = async (value: string) => {
      await sql`alter system set default_transaction_read_only = ${sql.lit(value)}`.execute(weir.db);
      await sql`select pg_reload_conf()`.execute(weir.db);
    };
    const ids = await aroundModelCalls(async (run, answer) => {
      await readOnly('on');
      answer();
      try {
        await waitUntil(async () =>
          /^does not accept writes/.test((await health('/readyz')).away.database ?? ''),
        );
        assert.equal((await health('/healthz')).code, 200);
        for (const path of ['execute', 'jobs'])
          assert503(await call('POST', `${flow}/${path}`, { message: '' }), 'DATABASE_UNAVAILABLE');
        assert503(await call('POST', `${flow}/jobs/${run}/cancel`), 'DATABASE_UNAVAILABLE');
        for (const path of [`jobs/${run}`, `jobs/${run}/fork?step=0`, 'runs'])
          assert.equal((await call('GET', `${flow}/${path}`)).status, 200, path);
        await setTimeout(AWAY_MS);
      } finally {
        await readOnly('off');
      }
    });
    await audit(ids);
  }).timeout(TIMEOUT_MS);
});

/** Signals a process, unless it has ended: PostgreSQL's background workers come and go. */
function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** PostgreSQL's processes are each of a group of their own. */
function childrenOf(pid: number): number[] {
  return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);
}

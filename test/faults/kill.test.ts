import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTemporal, type Temporal } from '../../dev/temporal/temporal.ts';
import { reconcileRuns } from '../../worker/reconciler/reconcile-runs.ts';
import { acceptRun } from '../accept-run.ts';
import { code, llm, passthrough } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { auditRuns } from './audit-runs.ts';
import { type Program, startProgram } from './processes.ts';

const RUNS = 20;
const LLM_BLOCKS = 3;

describe('an accepted run is never lost', () => {
  let folder: string;
  let temporal: Temporal;
  let models: CountingModelServer;
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  let env: NodeJS.ProcessEnv;
  const programs: Program[] = [];

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'weir-faults-'));
    temporal = await startTemporal({ stateFolder: folder });
    models = await startCountingModelServer(100);
    env = { TEMPORAL_ADDRESS: temporal.address, DEMO_BASE_URL: models.url, WEIR_HEARTBEAT_TIMEOUT: '5' };
    weir = await startWeir({ env, worker: false });
    tenant = await weir.createTenant({ credits: 100_000 });
    flow = await weir.createFlow(tenant, [
      code('tag', 'return message;'),
      llm('one', 'one {{previous_output}}', 'demo/chat'),
      passthrough('keep'),
      llm('two', 'two {{previous_output}}', 'demo/chat'),
      {
        type: 'parallel',
        step_id: 'p',
        name: 'p',
        branches: {
          a: [llm('three', 'three {{previous_output}}', 'demo/chat')],
          b: [code('n', 'return 1;')],
        },
      },
    ]);
  });
  after(async () => {
    await Promise.all(programs.map((program) => program.kill()));
    await weir.stop();
    await models.close();
    await temporal.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => models.asked.clear());

  const start = async (file: string) => {
    const program = await startProgram(weir, file, env);
    programs.push(program);
    return program;
  };
  const accept = async () => {
    const answers = await Promise.all(
      Array.from({ length: RUNS }, () =>
        weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: randomUUID() } }),
      ),
    );
    return answers.map(({ status, body }) => {
      assert.equal(status, 202);
      return body.executionId as string;
    });
  };
  const blockRuns = (ids: string[]) =>
    weir.db.selectFrom('block_run').selectAll().where('execution_id', 'in', ids).execute();
  const audit = (ids: string[]) =>
    auditRuns(weir, tenant, flow, ids, { blocks: LLM_BLOCKS + 3, charged: LLM_BLOCKS });

  it('finishes after a kill -9 of the worker, without asking a model again for a block that had completed', async () => {
    const worker = await start('worker/worker.ts');
    const second = models.hold('two ');
    const ids = await accept();
    await second.arrived(RUNS);
    await worker.kill();
    second.release();
    const done = (await blockRuns(ids)).filter((row) => row.processor_type === 'llm');
    assert.equal(done.length, RUNS);
    const asked = new Map(models.asked);
    await start('worker/worker.ts');
    await audit(ids);
    const answers = new Map(
      done.map((row) => [String(row.output).slice('answer to '.length), row.block_key]),
    );
    for (const [prompt, key] of answers)
      assert.equal(models.asked.get(prompt), asked.get(prompt), `${key} was asked again`);
  });

  it('finishes runs accepted by an API process that is killed -9 at once', async () => {
    const api = await start('api/server.ts');
    const url = /http:\S+\/api\/v1/.exec(api.ready)?.[0];
    const responses = await Promise.all(
      Array.from({ length: RUNS }, () =>
        fetch(`${url}/seq/${flow}/jobs`, {
          method: 'POST',
          headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ message: randomUUID() }),
        }),
      ),
    );
    const bodies = (await Promise.all(responses.map((response) => response.json()))) as {
      executionId: string;
    }[];
    await api.kill();
    await audit(bodies.map(({ executionId }) => executionId));
  });

  it('starts the workflow of a run whose API process died between accepting and starting it', async () => {
    const { executionId } = await acceptRun(weir, tenant, flow);
    await reconcileRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);
    assert.equal((await weir.finish(flow, executionId, tenant.key)).body.status, 'completed');
  });

  it('finishes, /execute included, after a kill -9 of the Temporal server', async () => {
    const second = models.hold('two ');
    const waiting = weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'held' } });
    const ids = await accept();
    await second.arrived(RUNS + 1);
    process.kill(temporal.child.pid, 'SIGKILL');
    await temporal.child.exited;
    second.release();
    temporal = await startTemporal({ stateFolder: folder, port: temporal.port });
    assert.equal(temporal.address, env.TEMPORAL_ADDRESS);
    await audit(ids);
    assert.equal((await waiting).body.status, 'completed');
  });

  it('accepts /jobs while the Temporal server is away, and runs them when it is back', async () => {
    await temporal.stop();
    const accepted = weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'early' } });
    const { status, body } = await accepted;
    assert.equal(status, 202);
    temporal = await startTemporal({ stateFolder: folder, port: temporal.port });
    await reconcileRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);
    assert.equal((await weir.finish(flow, body.executionId, tenant.key)).body.status, 'completed');
  });

  it('records the end of a run that an operator terminated', async () => {
    await Promise.all(programs.map((program) => program.kill()));
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'stop' } });
    await weir.client.workflow.getHandle(body.executionId).terminate('by hand');
    const ended = await waitUntil(async () => {
      // The engine's list may still have it as open.
      await reconcileRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);
      const job = await weir.call('GET', `${flow}/jobs/${body.executionId}`, { key: tenant.key });
      return job.body.status !== 'started' && job;
    });
    assert.deepEqual([ended.body.status, ended.body.failureReason], ['failed', 'error']);
    assert.match(ended.body.errorMessage, /terminated/);
  });

  it('lets what runs finish when the worker is asked to stop', async () => {
    const worker = await start('worker/worker.ts');
    const second = models.hold('two ');
    const ids = await accept();
    await second.arrived(RUNS);
    const asked = new Map(models.asked);
    const stopped = worker.stop();
    second.release();
    assert.equal(await stopped, 0);
    await start('worker/worker.ts');
    await audit(ids);
    // Nothing that was asked before the stop was cut off and asked again.
    for (const prompt of asked.keys()) assert.equal(models.asked.get(prompt), 1, prompt);
  });
});

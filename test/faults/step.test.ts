import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTemporal, type Temporal } from '../../dev/temporal/temporal.ts';
import { reconcileRuns } from '../../worker/reconciler/reconcile-runs.ts';
import { createStepClient, names, only, type StepClient } from '../api/runs/step-client.ts';
import { llm, passthrough } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import type { SseMessage } from '../sse.ts';
import { type Program, startProgram } from './processes.ts';

describe('an accepted step is never lost', () => {
  let folder: string;
  let temporal: Temporal;
  let models: CountingModelServer;
  let weir: Weir;
  let tenant: Tenant;
  let client: StepClient;
  let flow: string;
  let env: NodeJS.ProcessEnv;
  const programs: Program[] = [];

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'weir-faults-'));
    temporal = await startTemporal({ stateFolder: folder });
    models = await startCountingModelServer(100);
    env = {
      TEMPORAL_ADDRESS: temporal.address,
      DEMO_BASE_URL: models.url,
      WEIR_HEARTBEAT_TIMEOUT: '5',
    };
    weir = await startWeir({ env, worker: false });
    tenant = await weir.createTenant();
    client = await createStepClient(weir, tenant);
    flow = await weir.createFlow(tenant, [
      llm('one', 'one {{previous_output}}', 'demo/chat'),
      llm('two', 'two {{previous_output}}', 'demo/chat'),
      passthrough('end'),
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

  const start = async () => {
    const worker = await startProgram(weir, 'worker/worker.ts', env);
    programs.push(worker);
    return worker;
  };
  const whole = { stepIndex: 0, message: 'm', runRemaining: true };
  const expected = 'answer to two answer to one m';
  const get = async (url: string) => (await weir.call('GET', url, { key: tenant.key })).body;
  const charges = (executionId: string) =>
    weir.db
      .selectFrom('ledger_entry')
      .innerJoin('run', 'run.execution_id', 'ledger_entry.execution_id')
      .select('entry_key')
      .where('continues', '=', executionId)
      .execute();
  const lookAfter = () =>
    reconcileRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);

  it('is finished after a kill -9 of its worker, and its reader is told, each block once', async () => {
    const worker = await start();
    const second = models.hold('two ');
    const reading = client.read(await client.open(flow, whole));
    const events: SseMessage[] = [];
    for await (const event of reading) {
      events.push(event);
      if (event.event !== 'step_progress' || events.length > 4) continue;
      await second.arrived(1);
      await worker.kill();
      second.release();
      await start();
    }
    const step = ['block_started', 'block_completed', 'step_progress'];
    const rest = [...step, ...step.slice(0, 2), 'run_completed'];
    assert.deepEqual(names(events), ['run_started', ...step, ...rest]);
    assert.equal(only(events, 'run_completed').result, expected);
    assert.equal(models.asked.get('one m'), 1);
    assert.equal((await charges(only(events, 'run_started').executionId)).length, 2);
  });

  it('is refused with 503 before its first byte while the engine is away, carried out later, and told to the same key', async () => {
    await temporal.stop();
    const headers = { 'idempotency-key': 'away' };
    const sent = weir.call('POST', `${flow}/step`, { key: tenant.key, body: whole, headers });
    const { status, body, headers: got } = await sent;
    assert.deepEqual([status, body.detail.code], [503, 'ENGINE_UNAVAILABLE']);
    assert.match(got.get('content-type') ?? '', /^application\/json/);
    const { executionId } = body.detail;
    assert.equal((await get(`${flow}/jobs/${executionId}`)).status, 'started');
    temporal = await startTemporal({ stateFolder: folder, port: temporal.port });
    await lookAfter();
    const ended = await weir.finish(flow, executionId, tenant.key);
    assert.deepEqual([ended.body.status, ended.body.result], ['completed', expected]);
    const events = await client.step(flow, whole, { headers });
    assert.equal(only(events, 'run_started').executionId, executionId);
    assert.equal(only(events, 'run_completed').result, expected);
    assert.equal((await charges(executionId)).length, 2);
  });

  it('is finished after a kill -9 of the engine under it, and its reader is told', async () => {
    const first = models.hold('one ');
    const reading = client.read(await client.open(flow, whole));
    const events: SseMessage[] = [];
    for await (const event of reading) {
      events.push(event);
      if (event.event !== 'block_started' || events.length > 2) continue;
      await first.arrived(1);
      process.kill(temporal.child.pid, 'SIGKILL');
      await temporal.child.exited;
      first.release();
      temporal = await startTemporal({ stateFolder: folder, port: temporal.port });
    }
    assert.equal(only(events, 'run_completed').result, expected);
    assert.equal((await charges(only(events, 'run_started').executionId)).length, 2);
  });
});

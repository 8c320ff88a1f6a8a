// Two versions of the worker side by side, rolled out with the commands of docs/operating/worker-versions.md.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isDeepStrictEqual, promisify } from 'node:util';
import { findReasons } from '../../api/operator/stuck-runs.ts';
import { getTemporalBinary } from '../../dev/temporal/binary.ts';
import { listPollers, type Polled, WORKFLOW_TASKS } from '../../temporal/list-pollers.ts';
import { statusIs } from '../api/webhooks/deliveries-fixture.ts';
import { beside, code, llm } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { answerWith, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { type Program, startProgram } from '../faults/processes.ts';
import type { Tenant } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';
import { describeWith } from '../where-available.ts';
import { testWorkflowBundle } from '../workflow-bundle.ts';

const run = promisify(execFile);
const DEPLOYMENT = `weir-${randomUUID()}`;
/** Only runs that begin on the second version have its marker in their histories. */
const MARKER = 'of-the-second-version';

describeWith(['openssl'], 'two versions of the worker', () => {
  let models: CountingModelServer;
  let weir: WebhookWeir;
  let hook: WebhookReceiver;
  let tenant: Tenant;
  let flow: string;
  let short: string;
  let temporal: string;
  let bundles: { [buildId: string]: string };
  const programs = new Map<string, Program>();

  before(async () => {
    models = await startCountingModelServer(0);
    const env = { DEMO_BASE_URL: models.url, WEIR_HEARTBEAT_TIMEOUT: '5' };
    weir = await startWebhookWeir({ env, worker: false });
    hook = weir.hooks[0] as WebhookReceiver;
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [
      code('first', 'return message;'),
      llm('ask', 'ask {{message}}', 'demo/chat'),
      beside(llm('again', 'again {{message}}', 'demo/chat')),
      code('last', 'return message;'),
    ]);
    short = await weir.createFlow(tenant, [code('only', 'return message;')]);
    temporal = await getTemporalBinary({ stateFolder: tmpdir() });
    const { codePath } = await testWorkflowBundle();
    bundles = { unversioned: codePath, v1: codePath, v2: codePath.replace('.js', '-v2.js') };
    await writeFile(bundles.v2 as string, withMarker(await readFile(codePath, 'utf8')));
  });
  after(async () => {
    await Promise.all([...programs.values()].map((program) => program.kill()));
    await weir.stop();
    await models.close();
  });

  async function startVersion(buildId: string): Promise<void> {
    const program = await startProgram(weir, 'worker/worker.ts', {
      ...weir.env,
      ...(buildId !== 'unversioned' && {
        TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT,
        TEMPORAL_WORKER_BUILD_ID: buildId,
      }),
      WEIR_TEST_WORKFLOW_BUNDLE: bundles[buildId],
    });
    programs.set(buildId, program);
  }
  const cli = (...args: string[]) =>
    run(temporal, args, {
      env: { ...process.env, TEMPORAL_ADDRESS: weir.config.temporal.connectionOptions.address },
    });
  /** Repeats a command of the documentation until the server has heard of what it names. */
  async function deployment(command: string, ...args: string[]): Promise<void> {
    const all = ['worker', 'deployment', command, '--deployment-name', DEPLOYMENT, ...args];
    await waitUntil(() =>
      cli(...all).catch((error) => {
        if (!/not found|has not polled|no pollers|missing/i.test(error.stderr)) throw error;
      }),
    );
  }
  const setCurrent = (buildId: string) => deployment('set-current-version', '--build-id', buildId, '--yes');
  const ramp = (buildId: string, percentage: string) =>
    deployment('set-ramping-version', '--build-id', buildId, '--percentage', percentage, '--yes');

  const start = async (message: string = randomUUID()): Promise<string> => {
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message } });
    return body.executionId;
  };
  const complete = async (executionId: string) =>
    assert.equal((await weir.finish(flow, executionId, tenant.key)).body.status, 'completed');
  /**
   * The versions that completed tasks of a workflow, once it has ended, and `patched` when the code of v2 began it. A run
   * is recorded as completed before the task that recorded it has.
   */
  async function versionsOf(workflowId: string): Promise<string> {
    const workflow = weir.client.workflow.getHandle(workflowId);
    await workflow.result();
    const { events = [] } = await workflow.fetchHistory();
    const versions = (events ?? []).map(
      ({ workflowTaskCompletedEventAttributes: task }) => task?.deploymentVersion?.buildId,
    );
    const patched = (events ?? []).some(({ markerRecordedEventAttributes: marker }) =>
      Object.values(marker?.details ?? {}).some(({ payloads }) =>
        payloads?.some(({ data }) => Buffer.from(data ?? []).includes(MARKER)),
      ),
    );
    return [...new Set(versions.filter(Boolean)), ...(patched ? ['patched'] : [])].join(' ');
  }
  /** The version of a new run whose prompts are not held. */
  async function versionOfNew(): Promise<string> {
    const { body } = await weir.call('POST', `${short}/jobs`, { key: tenant.key, body: { message: 'm' } });
    await weir.finish(short, body.executionId, tenant.key);
    return versionsOf(body.executionId);
  }

  const findWaiting = (ids: string[], polled: Polled) =>
    findReasons(weir.client, ids, { polled, signal: AbortSignal.timeout(20_000) });

  it('run nothing before one of them is current, and then what workers without a version have begun, too', async () => {
    await startVersion('unversioned');
    const held = models.hold('ask');
    const begun = await start();
    await held.arrived(1);
    // For the engine a run is begun once its first workflow task has ended.
    const isBegun = `WorkflowId = '${begun}' and BuildIds is not null`;
    await waitUntil(async () => (await weir.client.workflow.count(isBegun)).count === 1);
    await startVersion('v1');
    await programs.get('unversioned')?.kill();
    const executionId = await start();
    const ramping: Polled = {
      pollers: [{ secondsAgo: 0 }],
      chosen: [
        { state: 'current', version: undefined },
        { state: 'ramping', version: `${DEPLOYMENT}:v1` },
      ],
    };
    await waitUntil(async () => (await findWaiting([executionId], ramping)).size > 0);
    const waiting = await findWaiting([begun, executionId], ramping);
    assert.deepEqual([...waiting], [[executionId, 'no ramping worker']]);
    await setCurrent('v1');
    held.release();
    await complete(begun);
    await complete(executionId);
    assert.equal(await versionsOf(begun), 'v1');
    assert.equal(await versionsOf(executionId), 'v1');
    const { status, body } = await weir.call('POST', `${flow}/execute`, {
      key: tenant.key,
      body: { message: 'm' },
    });
    assert.equal(status, 200, JSON.stringify(body));
    const away = async () => ((await (await fetch(`${weir.url}/readyz`)).json()) as { away: object }).away;
    await waitUntil(async () => isDeepStrictEqual(await away(), {}));
  });

  it('share new runs by the percentage of a ramp', async () => {
    await startVersion('v2');
    await ramp('v2', '50');
    const versions = new Set<string>();
    while (versions.size < 2) versions.add(await versionOfNew());
    assert.deepEqual([...versions].sort(), ['v1', 'v2 patched']);
    await ramp('v2', '0');
  });

  it('end each run where it began, and go on with deliveries on the current one', async () => {
    const held = models.hold('ask');
    hook.will(answerWith(503, 'later'));
    const executionId = await weir.startJob(tenant, flow, hook, { message: 'held' });
    await held.arrived(1);
    await setCurrent('v2');
    assert.equal(await versionOfNew(), 'v2 patched');
    held.release();
    await complete(executionId);
    assert.equal(await versionsOf(executionId), 'v1');
    const { id } = await weir.deliveryWhen(tenant, statusIs('failed_retry'));
    await weir.attemptNow(id);
    await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
    assert.equal(await versionsOf(id), 'v1 v2');
  });

  it('take new runs back when the roll-out is rolled back', async () => {
    await setCurrent('v1');
    assert.equal(await versionOfNew(), 'v1');
  });

  it('leave the runs of a version without workers waiting, until an operator moves them to the current one', async () => {
    const held = models.hold('ask');
    const executionId = await start();
    await held.arrived(1);
    const query = `TemporalWorkerDeploymentVersion = '${DEPLOYMENT}:v1' and ExecutionStatus = 'Running'`;
    // A run belongs to a version once its first workflow task has ended.
    await waitUntil(async () => (await weir.client.workflow.count(query)).count === 1);
    await setCurrent('v2');
    await programs.get('v1')?.kill();
    // The engine keeps a killed worker in mind for minutes.
    const { namespace } = weir.client.options;
    const queue = { namespace, name: weir.config.taskQueue, type: WORKFLOW_TASKS } as const;
    const polled = await listPollers(weir.client.workflowService, queue);
    const others = polled.pollers.filter(({ version }) => version !== `${DEPLOYMENT}:v1`);
    assert.deepEqual(await findWaiting([executionId], polled), new Map());
    assert.deepEqual(
      await findWaiting([executionId], { ...polled, pollers: others }),
      new Map([[executionId, 'no worker of its version']]),
    );
    held.release();
    const override = ['--versioning-override-behavior', 'auto_upgrade'];
    await cli('workflow', 'update-options', '--query', query, ...override, '--yes');
    await complete(executionId);
    assert.equal(await versionsOf(executionId), 'v1 v2');
  });
});

/** Changes the workflow code as a release would: behind `patched`. */
function withMarker(bundle: string): string {
  const beginning =
    /(async function runFlow\([\s\S]*?\) \{\n)(\s*const blocks = new (\S+)\.CancellationScope\(\);)/;
  assert.match(bundle, beginning);
  return bundle.replace(beginning, `$1 if ($3.patched('${MARKER}')) await $3.sleep(1);\n$2`);
}

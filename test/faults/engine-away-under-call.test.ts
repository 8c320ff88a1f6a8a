// The engine is away for longer than it waits for a heartbeat while a model answers: it takes the call's activity for lost, and
// begins another.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { InTaskTimes } from '../../activities/held-model-calls.ts';
import { llm } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { startTcpProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { auditRuns } from './audit-runs.ts';
import { type Program, startProgram } from './processes.ts';

const NEVER_MS = 600_000;
/** Settings under which calls are taken over, or are activities from the start. */
const TAKEN_OVER: InTaskTimes = { maxMs: 1, slowMs: NEVER_MS };
const SLOW: InTaskTimes = { maxMs: NEVER_MS, slowMs: 0 };
const TIMEOUT_MS = 300_000;
/** The state of a pending activity that a worker has taken. */
const STARTED = 2;

describe('a model call whose activity is taken for lost while the engine is away', () => {
  const address = process.env.TEST_TEMPORAL_ADDRESS ?? 'localhost:7233';
  let models: CountingModelServer;
  let engine: TcpProxy;
  /** It reaches the engine beside the proxy. */
  let direct: Client;
  let weir: Weir;
  let tenant: Tenant;
  let other: Program | undefined;
  before(async () => {
    models = await startCountingModelServer(0);
    engine = await startTcpProxy(`http://${address}`);
    direct = new Client({ connection: await Connection.connect({ address }) });
  });
  afterEach(async () => {
    await engine.restore();
    await other?.kill();
    other = undefined;
    await weir.stop();
  });
  after(async () => {
    await engine.close();
    await direct.connection.close();
    await models.close();
  });

  const start = async (inTaskTimes: InTaskTimes) => {
    weir = await startWeir({
      env: { TEMPORAL_ADDRESS: new URL(engine.url).host, DEMO_BASE_URL: models.url },
      inTaskTimes,
    });
    tenant = await weir.createTenant();
    return weir.createFlow(tenant, [llm('ask', 'ask {{message}}', 'demo/chat')]);
  };
  const run = async (flow: string, message: string) =>
    (await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message } })).body
      .executionId as string;
  /** The activity that waits for the model; `number` counts it and its attempts. */
  const describeActivity = async (executionId: string) => {
    const handle = direct.workflow.getHandle(executionId);
    const [activity] = (await handle.describe()).raw.pendingActivities ?? [];
    const { events } = await handle.fetchHistory();
    const scheduled = events?.filter((event) => event.activityTaskScheduledEventAttributes).length ?? 0;
    const attempt = activity?.attempt ?? 0;
    const { lastStartedTime: begun, lastHeartbeatTime: beat } = activity ?? {};
    return {
      number: scheduled + attempt,
      isFirst: attempt === 1,
      isBegun: activity?.state === STARTED,
      // It has had the time in which an attempt asks its model.
      hasBeaten: Number(beat?.seconds ?? 0) > Number(begun?.seconds ?? Infinity),
    };
  };

  for (const [kind, times] of [
    ['that was taken over', TAKEN_OVER],
    ['that was an activity from the start', SLOW],
  ] as const)
    for (const where of ['in the same process', 'in another process'])
      it(`${kind} is not made again by an attempt ${where}`, async () => {
        const flow = await start(times);
        if (times === SLOW)
          await auditRuns(weir, tenant, flow, [await run(flow, randomUUID())], { blocks: 1, charged: 1 });
        const held = models.hold('ask ');
        const message = randomUUID();
        const executionId = await run(flow, message);
        await held.arrived(1);
        const first = await waitUntil(async () => {
          const activity = await describeActivity(executionId);
          return activity.isBegun && activity;
        });
        await engine.refuse();
        if (where === 'in another process')
          other = await startProgram(weir, 'worker/worker.ts', { DEMO_BASE_URL: models.url });
        else await waitUntil(async () => !(await describeActivity(executionId)).isFirst);
        if (!other) await engine.restore();
        await waitUntil(async () => {
          const { isBegun, hasBeaten, number } = await describeActivity(executionId);
          return isBegun && hasBeaten && number > first.number;
        });
        if (other) await engine.restore();
        held.release();
        await auditRuns(weir, tenant, flow, [executionId], { blocks: 1, charged: 1 });
        assert.equal(models.asked.get(`ask ${message}`), 1);
      }).timeout(TIMEOUT_MS);
});

// The engine is away for some time while a model answers, and workers renew their connections: the call is not made again.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { llm } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { startTcpProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { auditRuns } from './audit-runs.ts';
import { type Program, startProgram } from './processes.ts';
import { faultSize } from './sizes.ts';

const HEARTBEAT_TIMEOUT_SECONDS = faultSize(20, 75);
const AWAY_MS = faultSize(10, 60) * 1_000;
const TIMEOUT_MS = 300_000;

describe('a slow model call while the engine is away for less than the heartbeat timeout', () => {
  const address = process.env.TEST_TEMPORAL_ADDRESS ?? 'localhost:7233';
  let models: CountingModelServer;
  let engine: TcpProxy;
  let weir: Weir;
  let tenant: Tenant;
  let other: Program | undefined;
  before(async () => {
    models = await startCountingModelServer(0);
    engine = await startTcpProxy(`http://${address}`);
    weir = await startWeir({
      env: {
        TEMPORAL_ADDRESS: new URL(engine.url).host,
        DEMO_BASE_URL: models.url,
        WEIR_HEARTBEAT_TIMEOUT: String(HEARTBEAT_TIMEOUT_SECONDS),
      },
      fastModelMs: 0,
    });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await engine.restore();
    await other?.kill();
    await weir.stop();
    await engine.close();
    await models.close();
  });

  it('is made and charged once, also where another worker reaches the engine', async () => {
    const flow = await weir.createFlow(tenant, [llm('ask', 'ask {{message}}', 'demo/chat')]);
    const held = models.hold('ask ');
    const message = randomUUID();
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message } });
    await held.arrived(1);
    await engine.refuse();
    other = await startProgram(weir, 'worker/worker.ts', { DEMO_BASE_URL: models.url });
    await setTimeout(AWAY_MS);
    await engine.restore();
    held.release();
    await auditRuns(weir, tenant, flow, [body.executionId], { blocks: 1, charged: 1 });
    assert.equal(models.asked.get(`ask ${message}`), 1);
  }).timeout(TIMEOUT_MS);
});

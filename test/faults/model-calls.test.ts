// Workers that are killed under a model call: a local activity, and a regular one.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { llm } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { auditRuns } from './audit-runs.ts';
import { type Program, startProgram } from './processes.ts';

describe('a model call whose worker is killed', () => {
  let models: CountingModelServer;
  let weir: Weir;
  let tenant: Tenant;
  const programs: Program[] = [];
  before(async () => {
    models = await startCountingModelServer(0);
    weir = await startWeir({
      env: { DEMO_BASE_URL: models.url, WEIR_HEARTBEAT_TIMEOUT: '5' },
      worker: false,
    });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await Promise.all(programs.map((program) => program.kill()));
    await weir.stop();
    await models.close();
  });

  const start = async () => {
    const program = await startProgram(weir, 'worker/worker.ts', { DEMO_BASE_URL: models.url });
    programs.push(program);
    return program;
  };
  const ask = async (flow: string, message: string): Promise<string> => {
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message } });
    return body.executionId;
  };
  const isRegular = async (executionId: string) => {
    const { raw } = await weir.client.workflow.getHandle(executionId).describe();
    return raw.pendingActivities?.[0]?.activityId === 'second';
  };

  for (const kind of ['local', 'regular'])
    it(`as a ${kind} activity is made again, at most twice in all, and charged once`, async () => {
      // A worker that knows no answer of a model takes it for slow.
      const flow = await weir.createFlow(tenant, [
        llm('first', 'first {{message}}', 'demo/chat'),
        llm('second', 'second {{message}}', kind === 'local' ? 'demo/chat' : 'demo/vision'),
      ]);
      const worker = await start();
      const held = models.hold('second');
      const message = randomUUID();
      const executionId = await ask(flow, message);
      await held.arrived(1);
      if (kind === 'regular') await waitUntil(() => isRegular(executionId));
      else assert(!(await isRegular(executionId)));
      await worker.kill();
      held.release();
      const next = await start();
      await auditRuns(weir, tenant, flow, [executionId], { blocks: 2, charged: 2 });
      assert.equal(models.asked.get(`first ${message}`), 1, 'a block that had completed was repeated');
      assert.equal(models.asked.get(`second ${message}`), 2);
      await next.kill();
    });
});

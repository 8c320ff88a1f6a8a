import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { WorkflowNotFoundError } from '@temporalio/client';
import { startRun } from '../../api/start-run.ts';
import { recordBlockRun } from '../../db/block-runs.ts';
import { requestCancel } from '../../db/cancel-run.ts';
import { insertRuns } from '../../db/runs.ts';
import { reconcile } from '../../worker/reconcile.ts';
import { code, llm, passthrough } from '../blocks.ts';
import { answer, type FakeModelServer, hang, startFakeModelServer } from '../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';

const MESSAGE = 'The run was cancelled by its caller.';

describe('POST …/jobs/{executionId}/cancel', () => {
  let weir: Weir;
  let tenant: Tenant;
  let models: FakeModelServer;
  before(async () => {
    models = await startFakeModelServer();
    weir = await startWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl } });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  const start = async (flow: string): Promise<string> =>
    (await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } })).body.executionId;
  const cancel = (flow: string, executionId: string) =>
    weir.call('POST', `${flow}/jobs/${executionId}/cancel`, { key: tenant.key });
  const read = (flow: string, executionId: string) =>
    weir.call('GET', `${flow}/jobs/${executionId}`, { key: tenant.key });
  const look = () => reconcile({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);

  /** A run as accepted by an API process that died before it started the workflow. */
  async function accept(flow: string) {
    const { id, project_id } = await weir.db
      .selectFrom('flow')
      .select(['id', 'project_id'])
      .where('slug', '=', flow.split('/')[2] as string)
      .executeTakeFirstOrThrow();
    const version = await weir.db
      .selectFrom('flow_version')
      .select(['id', 'definition'])
      .where('flow_id', '=', id)
      .executeTakeFirstOrThrow();
    const executionId = randomUUID();
    await insertRuns(weir.db, [
      {
        executionId,
        organizationId: tenant.organizationId,
        projectId: project_id,
        flowId: id,
        flowVersionId: version.id,
        mode: 'jobs',
        environment: 'live',
        input: { message: 'm', parameters: {}, block_overrides: {} },
      },
    ]);
    return { executionId, definition: version.definition };
  }

  function assertCancelled(body: { status: string; failureReason: string; errorMessage: string }): void {
    assert.deepEqual([body.status, body.failureReason, body.errorMessage], ['failed', 'error', MESSAGE]);
  }

  async function charges(executionId: string): Promise<number> {
    const rows = await weir.db
      .selectFrom('ledger_entry')
      .select('id')
      .where('execution_id', '=', executionId)
      .execute();
    return rows.length;
  }

  it('aborts the model request under way, ends as failed, is recorded and charges nothing', async () => {
    const flow = await weir.createFlow(tenant, [llm('ask', 'x', 'demo/chat'), passthrough('after')]);
    models.will(hang);
    const asked = models.nextCall();
    const executionId = await start(flow);
    const closed = once(await asked, 'close');
    const { status, body } = await cancel(flow, executionId);
    assert.equal(status, 202);
    assert.equal(body.executionId, executionId);
    const ended = await weir.finish(flow, executionId, tenant.key);
    assertCancelled(ended.body);
    assert.deepEqual(ended.body.blocks, []);
    await closed;
    assert.equal(models.calls.length, 1, 'the request was repeated');
    assert.equal(await charges(executionId), 0);
    const { error } = await weir.db
      .selectFrom('run')
      .select('error')
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    assert.equal(error?.code, 'CANCELLED');
    const workflow = await weir.client.workflow.getHandle(executionId).describe();
    assert.equal(workflow.status.name, 'FAILED');
  });

  it('is answered to whoever waits for the run', async () => {
    const flow = await weir.createFlow(tenant, [llm('ask', 'x', 'demo/chat')]);
    models.will(hang);
    const asked = models.nextCall();
    const waiting = weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm' } });
    await asked;
    const { runs } = (await weir.call('GET', `${flow}/runs`, { key: tenant.key })).body;
    await cancel(flow, runs[0].executionId);
    assertCancelled((await waiting).body);
  });

  it('stops code that runs, without waiting for its time limit', async () => {
    const flow = await weir.createFlow(tenant, [
      code('spin', 'for (;;);', { processor_config: { timeout_ms: 30_000 } }),
    ]);
    const executionId = await start(flow);
    assert.equal((await cancel(flow, executionId)).status, 202);
    const { body } = await weir.finish(flow, executionId, tenant.key);
    assertCancelled(body);
  });

  it('answers 200 and leaves the run as it is when it has ended, cancelled or not', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    const executionId = await start(flow);
    const { result, blocks, ...ended } = (await weir.finish(flow, executionId, tenant.key)).body;
    const { status, body } = await cancel(flow, executionId);
    assert.deepEqual([status, body], [200, ended]);
    assert.equal((await read(flow, executionId)).body.status, 'completed');

    const { executionId: other } = await accept(flow);
    const first = await cancel(flow, other);
    const second = await cancel(flow, other);
    assert.deepEqual([first.status, second.status], [202, 200]);
    assert.deepEqual(second.body, first.body);
  });

  it('takes a repeated cancellation of a run that has not ended yet, also under its version', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    await weir.stopWorker();
    const executionId = await start(flow);
    for (const path of [flow, `${flow}/v1`, flow]) {
      const { status, body } = await cancel(path, executionId);
      assert.deepEqual([status, body.status], [202, 'started']);
    }
    await weir.startWorker();
    const { body } = await weir.finish(flow, executionId, tenant.key);
    assertCancelled(body);
    assert.deepEqual(body.blocks, []);
  });

  it('ends a run whose workflow was not started yet at once, and none of its blocks runs later', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    const { executionId, definition } = await accept(flow);
    const { status, body } = await cancel(flow, executionId);
    assert.equal(status, 202);
    assertCancelled(body);
    await look();
    await assert.rejects(weir.client.workflow.getHandle(executionId).describe(), WorkflowNotFoundError);

    // An API process that was about to start it.
    const [organization = '', project = '', slug = ''] = flow.split('/');
    const names = {
      organization,
      project,
      flow: slug,
      version: 1,
      mode: 'jobs',
      environment: 'live',
      flowVersionId: executionId,
      continues: null,
      from: null,
      to: null,
    } as const;
    await startRun(weir.client, weir.config.taskQueue, { executionId, definition, ...names });
    await assert.rejects(weir.client.workflow.getHandle(executionId).result());
    const late = (await read(flow, executionId)).body;
    assertCancelled(late);
    assert.deepEqual(late.blocks, []);
  });

  describe('while the engine is away', () => {
    it('has the reconciler end a run without a workflow', async () => {
      const flow = await weir.createFlow(tenant, [passthrough('a')]);
      const { executionId } = await accept(flow);
      await requestCancel(weir.db, executionId);
      await look();
      assertCancelled((await read(flow, executionId)).body);
      await assert.rejects(weir.client.workflow.getHandle(executionId).describe(), WorkflowNotFoundError);
    });

    it('has the reconciler cancel a workflow that runs', async () => {
      const flow = await weir.createFlow(tenant, [llm('ask', 'x', 'demo/chat')]);
      models.will(hang);
      const asked = models.nextCall();
      const executionId = await start(flow);
      await asked;
      await requestCancel(weir.db, executionId);
      await look();
      assertCancelled((await weir.finish(flow, executionId, tenant.key)).body);
    });

    it('charges nothing for an answer that arrives after the cancellation, and the run ends', async () => {
      const flow = await weir.createFlow(tenant, [llm('ask', 'x', 'demo/chat'), passthrough('after')]);
      models.will(hang);
      const asked = models.nextCall();
      const executionId = await start(flow);
      const response = await asked;
      await requestCancel(weir.db, executionId);
      answer('late')(response);
      const { body } = await weir.finish(flow, executionId, tenant.key);
      assertCancelled(body);
      assert.equal(body.cost, 0);
      assert.equal(await charges(executionId), 0);
    });
  });

  it('lets a charge that is being written end first', async () => {
    const flow = await weir.createFlow(tenant, [llm('ask', 'x', 'demo/chat')]);
    const { executionId } = await accept(flow);
    const block = {
      executionId,
      stepId: 'ask',
      name: 'ask',
      processorType: 'llm',
      input: { ref: '$message' },
      output: '"x"',
      costMicrocredits: 5,
      attempts: 1,
      startedAt: new Date(),
    } as const;
    const record = (blockKey: string) =>
      recordBlockRun(weir.db, tenant.organizationId, { ...block, blockKey });
    const [charged] = await Promise.all(
      [record('before'), record('at'), requestCancel(weir.db, executionId)].map((work) =>
        work.then(
          () => true,
          (error) => (error as { code: string }).code,
        ),
      ),
    );
    assert(charged === true || charged === 'CANCELLED');
    await assert.rejects(record('after'), { code: 'CANCELLED' });
    const { body } = await read(flow, executionId);
    assert.equal(body.blocks.length, await charges(executionId));
  });

  it('answers for a foreign run what it answers for an unknown one', async () => {
    const stranger = await weir.createTenant();
    const theirs = await weir.createFlow(stranger, [passthrough('a')]);
    const mine = await weir.createFlow(tenant, [passthrough('a')]);
    const { executionId } = (
      await weir.call('POST', `${theirs}/jobs`, { key: stranger.key, body: { message: '' } })
    ).body;
    for (const [method, suffix] of [
      ['POST', '/cancel'],
      ['GET', '/events'],
      ['GET', '/fork?step=0'],
      ['GET', ''],
    ] as const) {
      const [foreign, unknown] = await Promise.all(
        [executionId, randomUUID()].map((id) =>
          weir.call(method, `${mine}/jobs/${id}${suffix}`, { key: tenant.key }),
        ),
      );
      assert.equal(foreign?.status, 404);
      assert.equal(foreign?.body.detail.code, 'RUN_NOT_FOUND');
      assert.equal(JSON.stringify(foreign?.body), JSON.stringify(unknown?.body));
      const trespass = await weir.call(method, `${theirs}/jobs/${executionId}${suffix}`, { key: tenant.key });
      assert.deepEqual([trespass.status, trespass.body.detail.code], [404, 'FLOW_NOT_FOUND']);
    }
    const { body } = await weir.finish(theirs, executionId, stranger.key);
    assert.equal(body.status, 'completed');
  });
});

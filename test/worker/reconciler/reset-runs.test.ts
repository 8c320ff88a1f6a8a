import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { reconcileRuns } from '../../../worker/reconciler/reconcile-runs.ts';
import { code, llm } from '../../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../../fakes/counting-model-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

/** The event with which the first workflow task has completed, the earliest to which a workflow can be reset. */
const FIRST_TASK_COMPLETED = 4;

describe('a run whose workflow an operator handles in the Temporal Web UI', () => {
  let weir: Weir;
  let tenant: Tenant;
  let models: CountingModelServer;
  before(async () => {
    models = await startCountingModelServer(0);
    weir = await startWeir({ env: { DEMO_BASE_URL: models.url } });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  const start = async (flow: string, message: string) => {
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message } });
    return body.executionId as string;
  };
  /** Resets a workflow to its beginning; returns the handle of the execution that repeats it. */
  const reset = async (workflowId: string) => {
    const { runId } = await weir.client.workflow.getHandle(workflowId).describe();
    await waitUntil(async () => {
      const { events } = await weir.client.workflow.getHandle(workflowId).fetchHistory();
      return (events?.length ?? 0) >= FIRST_TASK_COMPLETED;
    });
    const repeated = await weir.client.workflowService.resetWorkflowExecution({
      namespace: weir.config.temporal.namespace,
      workflowExecution: { workflowId, runId },
      reason: 'test',
      workflowTaskFinishEventId: FIRST_TASK_COMPLETED as never,
      requestId: randomUUID(),
    });
    return weir.client.workflow.getHandle(workflowId, (repeated as { runId: string }).runId);
  };
  const close = (executionId: string) =>
    weir.client.workflow
      .getHandle(executionId)
      .result()
      .catch(() => undefined);
  const blocksOf = (executionId: string) =>
    weir.db.selectFrom('block_run').selectAll().where('execution_id', '=', executionId).execute();
  const chargesOf = (executionId: string) =>
    weir.db.selectFrom('ledger_entry').selectAll().where('execution_id', '=', executionId).execute();

  it('runs no block again when it has ended, and its workflow says what to do instead', async () => {
    const flow = await weir.createFlow(tenant, [
      llm('ask', '{{message}}', 'demo/chat'),
      code('fail', 'throw new Error("no");'),
    ]);
    const executionId = await start(flow, 'ended');
    await weir.finish(flow, executionId, tenant.key);
    await close(executionId);
    const [blocks, charges] = [await blocksOf(executionId), await chargesOf(executionId)];
    const repeated = await reset(executionId);
    await assert.rejects(repeated.result(), ({ cause }: Error) => {
      assert.match((cause as Error).message, /The run has ended.*Fork it instead/);
      return true;
    });
    assert.deepEqual(await blocksOf(executionId), blocks);
    assert.deepEqual(await chargesOf(executionId), charges);
    assert.equal(models.asked.get('ended'), 1);
  });

  it('completes with what it had answered when it had completed', async () => {
    const flow = await weir.createFlow(tenant, [
      llm('ask', '{{message}}', 'demo/chat'),
      code('last', 'return 1;'),
    ]);
    const executionId = await start(flow, 'completed');
    await weir.finish(flow, executionId, tenant.key);
    await close(executionId);
    const blocks = await blocksOf(executionId);
    await (await reset(executionId)).result();
    assert.deepEqual(await blocksOf(executionId), blocks);
    assert.equal(models.asked.get('completed'), 1);
  });

  it('goes on when it is reset under way, and asks and pays for no answer twice', async () => {
    const flow = await weir.createFlow(tenant, [
      llm('first', '{{message}}', 'demo/chat'),
      llm('second', 'held {{previous_output}}', 'demo/chat'),
    ]);
    const held = models.hold('held');
    const executionId = await start(flow, 'under way');
    await held.arrived(1);
    await reset(executionId);
    held.release();
    const { body } = await weir.finish(flow, executionId, tenant.key);
    assert.equal(body.status, 'completed', body.errorMessage);
    assert.equal(models.asked.get('under way'), 1);
    assert.equal((await chargesOf(executionId)).length, 2);
  });

  it('says how to stop a run when it was terminated', async () => {
    const flow = await weir.createFlow(tenant, [llm('ask', 'held {{message}}', 'demo/chat')]);
    const held = models.hold('held');
    const executionId = await start(flow, 'terminated');
    await held.arrived(1);
    await weir.client.workflow.getHandle(executionId).terminate('by hand');
    const { body } = await waitUntil(async () => {
      // The engine's list of what is open lags behind.
      await reconcileRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);
      const state = await weir.call('GET', `${flow}/jobs/${executionId}`, { key: tenant.key });
      return state.body.status === 'failed' && state;
    });
    held.release();
    assert.equal(body.code, 'CANCELLED');
    assert.match(body.errorMessage, /cancel it: POST …\/jobs\/\{executionId\}\/cancel or weir runs cancel/);
  });
});

import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type proto from '@temporalio/proto';
import { code, passthrough } from '../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { startWithTaskTimeout } from '../start-with-task-timeout.ts';
import { waitUntil } from '../wait-until.ts';

type Event = proto.temporal.api.history.v1.IHistoryEvent;

const isTimeout = (event: Event) => !!event.workflowTaskTimedOutEventAttributes;
const isActivity = ({ activityTaskScheduledEventAttributes: scheduled }: Event) =>
  scheduled?.activityType?.name === 'passThrough';

describe('a block that takes long and loses its workers inside its workflow task', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await startWeir({ worker: false });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('keep'), code('last', 'return message;')]);
  });
  after(() => weir.stop());
  afterEach(() => weir.stopWorker());

  const start = () => startWithTaskTimeout(weir, tenant, flow, '5 seconds');

  async function countEvents(executionId: string, isSo: (event: Event) => boolean): Promise<number> {
    const { events } = await weir.client.workflow.getHandle(executionId).fetchHistory();
    return (events ?? []).filter(isSo).length;
  }
  /** As a worker does that is killed after it has renewed its workflow task once. */
  async function loseWorker(executionId: string): Promise<void> {
    const { options, workflowService: service } = weir.client;
    const { namespace } = options;
    const before = await countEvents(executionId, isTimeout);
    while ((await countEvents(executionId, isTimeout)) === before) {
      const taskQueue = { name: weir.config.taskQueue };
      const { taskToken } = await service.pollWorkflowTaskQueue({ namespace, taskQueue, identity: 'lost' });
      if (!taskToken?.length) continue;
      const renewal = { namespace, taskToken, forceCreateNewWorkflowTask: true, returnNewWorkflowTask: true };
      // On a busy machine, its time may be over by now: then it is lost as it is.
      await service.respondWorkflowTaskCompleted(renewal).catch(() => undefined);
      while ((await countEvents(executionId, isTimeout)) === before) await setTimeout(200);
    }
  }
  async function completes(executionId: string): Promise<void> {
    await weir.startWorker();
    assert.equal((await weir.finish(flow, executionId, tenant.key)).body.status, 'completed');
  }

  it('goes on as an activity after the third, whose further losses the engine counts', async () => {
    const executionId = await start();
    for (let losses = 0; losses < 3; losses += 1) await loseWorker(executionId);
    await completes(executionId);
    assert.equal(await countEvents(executionId, isActivity), 1);
  });

  it('runs inside its workflow task again after fewer', async () => {
    // On a busy machine, its own worker may take longer than the task may.
    const executionId = await waitUntil(async () => {
      const executionId = await start();
      for (let losses = 0; losses < 2; losses += 1) await loseWorker(executionId);
      await completes(executionId);
      await weir.stopWorker();
      return (await countEvents(executionId, isTimeout)) === 2 && executionId;
    });
    assert.equal(await countEvents(executionId, isActivity), 0);
  });
});

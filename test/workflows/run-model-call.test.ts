import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { InTaskTimes } from '../../activities/held-model-calls.ts';
import { reserveCredits } from '../../db/credits/reservations.ts';
import { llm } from '../blocks.ts';
import { answer, type FakeModelServer, hang, respond, startFakeModelServer } from '../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

const NEVER_MS = 600_000;
/** Settings under which no machine is too slow or too fast for what a test is about. */
const SHORT: InTaskTimes = { maxMs: NEVER_MS, slowMs: NEVER_MS };
const LONG: InTaskTimes = { maxMs: 1, slowMs: NEVER_MS };

describe('a model call', () => {
  let models: FakeModelServer;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    models = await startFakeModelServer();
  });
  after(() => models.close());
  beforeEach(() => {
    models.calls.splice(0);
  });
  afterEach(() => weir.stop());

  const begin = async (inTaskTimes: InTaskTimes) => {
    weir = await startWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl }, inTaskTimes });
    tenant = await weir.createTenant();
  };
  const start = async (flow: string) =>
    (await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } })).body
      .executionId as string;
  const finish = async (flow: string, executionId: string) =>
    (await weir.finish(flow, executionId, tenant.key)).body;
  const cancel = (flow: string, executionId: string) =>
    weir.call('POST', `${flow}/jobs/${executionId}/cancel`, { key: tenant.key });
  const events = async (executionId: string) => {
    const handle = weir.client.workflow.getHandle(executionId);
    await handle.result().catch(() => undefined);
    return (await handle.fetchHistory()).events ?? [];
  };
  const pending = async (executionId: string) =>
    (await weir.client.workflow.getHandle(executionId).describe()).raw.pendingActivities?.[0];
  const scheduled = async (executionId: string) =>
    (await events(executionId)).flatMap(
      ({ activityTaskScheduledEventAttributes: activity }) => activity?.taskQueue?.name ?? [],
    );
  const charges = async (executionId: string) =>
    (await weir.db.selectFrom('ledger_entry').select('id').where('execution_id', '=', executionId).execute())
      .length;
  const ask = (steps = ['ask']) =>
    weir.createFlow(
      tenant,
      steps.map((stepId) => llm(stepId, 'x', 'demo/chat')),
    );

  it('that is short is recorded in one activity of the task with those after it, and charged once', async () => {
    await begin(SHORT);
    const flow = await ask(['first', 'second']);
    // On a busy machine, the first call may take so long that the second is not in its activity.
    const { executionId, history } = await waitUntil(async () => {
      models.will(answer('one'), answer('two'));
      const executionId = await start(flow);
      assert.equal((await finish(flow, executionId)).result, 'two');
      const history = await events(executionId);
      const markers = history.filter((event) => event.markerRecordedEventAttributes);
      return markers.length === 1 && { executionId, history };
    });
    assert.deepEqual(await scheduled(executionId), []);
    assert.equal(history.filter((event) => event.workflowTaskCompletedEventAttributes).length, 1);
    assert(!history.some((event) => event.upsertWorkflowSearchAttributesEventAttributes));
    assert.equal(await charges(executionId), 2);
  });

  it('that is long goes on in its process, where an activity takes it over, and is made and charged once', async () => {
    await begin(LONG);
    models.will(hang);
    const asked = models.nextCall();
    const flow = await ask();
    const executionId = await start(flow);
    const response = await asked;
    const activity = await waitUntil(() => pending(executionId));
    assert.deepEqual([activity.activityId, activity.activityType?.name], ['ask', 'callModel']);
    answer('done')(response);
    const { result, blocks } = await finish(flow, executionId);
    assert.deepEqual([result, blocks[0].attempts], ['done', 1]);
    const [queue = ''] = await scheduled(executionId);
    assert(queue.startsWith(`${weir.config.taskQueue}-calls-`), queue);
    assert.deepEqual([models.calls.length, await charges(executionId)], [1, 1]);
  });

  for (const [phase, times] of [
    ['inside its workflow task', undefined],
    ['that was taken over', LONG],
  ] as const)
    it(`${phase} is aborted when its run is cancelled, and charged nothing`, async () => {
      await begin(times ?? { maxMs: 1_500, slowMs: NEVER_MS });
      models.will(hang);
      const asked = models.nextCall();
      const flow = await ask();
      const executionId = await start(flow);
      const closed = once(await asked, 'close');
      if (times) await waitUntil(async () => (await pending(executionId))?.lastStartedTime);
      assert.equal((await cancel(flow, executionId)).status, 202);
      const { status, errorMessage } = await finish(flow, executionId);
      assert.deepEqual([status, errorMessage], ['failed', 'The run was cancelled.']);
      await closed;
      assert.deepEqual([models.calls.length, await charges(executionId)], [1, 0]);
    });

  it('that the provider refuses at first goes on as an activity, with the refusal counted and shown', async () => {
    await begin(SHORT);
    models.will(respond(429, { error: { message: 'busy' } }, { 'retry-after': '2' }), answer('done'));
    const flow = await ask();
    const executionId = await start(flow);
    const waiting = await waitUntil(async () => {
      const activity = await pending(executionId);
      return activity?.lastFailure && activity;
    });
    assert.deepEqual(
      [waiting.attempt, waiting.lastFailure?.applicationFailureInfo?.type],
      [2, 'MODEL_UNAVAILABLE'],
    );
    assert.match(waiting.lastFailure?.message ?? '', /status 429.*busy/);
    const { result, blocks } = await finish(flow, executionId);
    assert.deepEqual([result, blocks[0].attempts], ['done', 2]);
    assert.deepEqual([models.calls.length, await charges(executionId)], [2, 1]);
    assert.deepEqual(await scheduled(executionId), [weir.config.taskQueue]);
  });

  it('that was begun ahead and is long is taken over from the activity of the block before it', async () => {
    await begin({ maxMs: 1_500, slowMs: NEVER_MS });
    const second = Promise.withResolvers<ServerResponse>();
    models.will(answer('one'), second.resolve);
    const flow = await ask(['before', 'ask']);
    const executionId = await start(flow);
    // On a busy machine, the block before may have an activity of its own.
    const activity = await waitUntil(async () => {
      const activity = await pending(executionId);
      return activity?.activityId === 'ask' && activity;
    });
    assert.equal(activity.activityType?.name, 'callModel');
    answer('done')(await second.promise);
    assert.equal((await finish(flow, executionId)).result, 'done');
    assert.deepEqual([models.calls.length, await charges(executionId)], [2, 2]);
  });

  it('that was begun ahead and refused goes on as an activity, with the refusal counted', async () => {
    await begin(SHORT);
    models.will(answer('one'), respond(429, {}, { 'retry-after': '1' }), answer('done'));
    const flow = await ask(['before', 'ask']);
    const executionId = await start(flow);
    const { result, blocks } = await finish(flow, executionId);
    assert.deepEqual(
      [result, blocks.map(({ attempts }: { attempts: number }) => attempts)],
      ['done', [1, 2]],
    );
    assert.deepEqual([models.calls.length, await charges(executionId)], [3, 2]);
    assert.deepEqual(await scheduled(executionId), [weir.config.taskQueue]);
  });

  it('that is refused after one that was lost with its workflow task is counted with both', async () => {
    await begin(SHORT);
    models.will(hang, respond(429, {}, { 'retry-after': '1' }), answer('done'));
    const asked = models.nextCall();
    const flow = await ask(['before', 'ask']);
    const executionId = await start(flow);
    const response = await asked;
    const { organizationId } = tenant;
    await reserveCredits(weir.db, { callId: executionId, blockKey: 'ask', organizationId, microcredits: 1 });
    answer('one')(response);
    const { blocks } = await finish(flow, executionId);
    assert.deepEqual(
      blocks.map(({ attempts }: { attempts: number }) => attempts),
      [1, 3],
    );
  });

  it('whose answers cannot be read is given up at the third, the one inside the task counted', async () => {
    await begin(SHORT);
    const garbled = respond(200, '{"choices": [', { 'retry-after': '0' });
    models.will(garbled, garbled, garbled);
    const flow = await ask();
    const { status, blocks } = await finish(flow, await start(flow));
    assert.deepEqual([status, blocks[0].attempts, models.calls.length], ['failed', 3, 3]);
  });

  it('of a model that is known to be slow is an activity from the start', async () => {
    await begin({ maxMs: NEVER_MS, slowMs: 0 });
    models.will(answer('one'), answer('two'));
    const flow = await ask();
    const first = await start(flow);
    assert.equal((await finish(flow, first)).result, 'one');
    const second = await start(flow);
    assert.equal((await finish(flow, second)).result, 'two');
    assert.deepEqual([await scheduled(first), await scheduled(second)], [[], [weir.config.taskQueue]]);
    const keys = (await events(second)).flatMap(
      ({ activityTaskScheduledEventAttributes: activity }) => activity?.priority?.fairnessKey ?? [],
    );
    assert.deepEqual(keys, [tenant.organization.toUpperCase()], 'it takes no turn of its organization');
  });

  for (const [phase, times] of [
    ['inside its workflow task', SHORT],
    ['that was taken over', LONG],
  ] as const)
    it(`${phase} is finished by a worker that is asked to stop`, async () => {
      await begin(times);
      models.will(hang);
      const asked = models.nextCall();
      const flow = await ask();
      const executionId = await start(flow);
      const response = await asked;
      if (times === LONG) await waitUntil(async () => (await pending(executionId))?.lastStartedTime);
      const stopped = weir.stopWorker();
      answer('done')(response);
      await stopped;
      await weir.startWorker();
      assert.equal((await finish(flow, executionId)).result, 'done');
      assert.deepEqual([models.calls.length, await charges(executionId)], [1, 1]);
    });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { reserveCredits } from '../../db/credits/reservations.ts';
import { llm } from '../blocks.ts';
import { answer, type FakeModelServer, hang, respond, startFakeModelServer } from '../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

/** With these, every model is fast, or slow, once it has answered. */
const FAST_MS = 600_000;
const SLOW_MS = 0;

describe('a model call', () => {
  let models: FakeModelServer;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    models = await startFakeModelServer();
  });
  after(() => models.close());
  beforeEach(() => models.reset());
  afterEach(() => weir.stop());

  /** Starts a Weir in which the model has answered once. */
  const begin = async (fastModelMs: number) => {
    weir = await startWeir({ env: { DEMO_BASE_URL: models.provider.baseUrl }, fastModelMs });
    tenant = await weir.createTenant();
    models.will(answer('first'));
    const flow = await ask();
    await finish(flow, await start(flow));
    models.calls.splice(0);
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

  it('of a model that has answered fast is a local activity, and charged once', async () => {
    await begin(FAST_MS);
    const flow = await ask(['first', 'second']);
    models.will(answer('one'), answer('two'));
    const executionId = await start(flow);
    assert.equal((await finish(flow, executionId)).result, 'two');
    const history = await events(executionId);
    assert.deepEqual(await scheduled(executionId), []);
    assert.equal(history.filter((event) => event.markerRecordedEventAttributes).length, 2);
    assert(!history.some((event) => event.upsertWorkflowSearchAttributesEventAttributes));
    assert.equal(await charges(executionId), 2);
  });

  for (const [model, fastMs, name] of [
    ['of a model that is slow', SLOW_MS, 'demo/chat'],
    ['of a model that has not answered yet', FAST_MS, 'demo/other'],
  ] as const)
    it(`${model} is a regular activity with the fairness key of its organization`, async () => {
      await begin(fastMs);
      models.will(answer('one'));
      const flow = await weir.createFlow(tenant, [llm('ask', 'x', name)]);
      const executionId = await start(flow);
      assert.equal((await finish(flow, executionId)).result, 'one');
      assert.deepEqual(await scheduled(executionId), [weir.config.taskQueue]);
      const keys = (await events(executionId)).flatMap(
        ({ activityTaskScheduledEventAttributes: activity }) => activity?.priority?.fairnessKey ?? [],
      );
      assert.deepEqual(keys, [tenant.organization.toUpperCase()]);
    });

  it('of a fast model that turns slow stays where it began, and the next is a regular activity', async () => {
    await begin(1_000);
    models.will(hang);
    const asked = models.nextCall();
    const flow = await ask();
    const executionId = await start(flow);
    const response = await asked;
    // As soon as it takes too long, the model counts as slow.
    const next = await waitUntil(async () => {
      models.will(answer('next'));
      const id = await start(flow);
      await finish(flow, id);
      return (await scheduled(id)).length > 0 && id;
    });
    assert.equal((await finish(flow, next)).result, 'next');
    answer('done')(response);
    assert.equal((await finish(flow, executionId)).result, 'done');
    assert.deepEqual(await scheduled(executionId), []);
  });

  for (const [kind, fastMs] of [
    ['local', FAST_MS],
    ['regular', SLOW_MS],
  ] as const) {
    it(`as a ${kind} activity is aborted within 2 s when its run is cancelled, and charged nothing`, async () => {
      await begin(fastMs);
      models.will(hang);
      const asked = models.nextCall();
      const flow = await ask();
      const executionId = await start(flow);
      const closed = once(await asked, 'close');
      if (kind === 'regular') await waitUntil(async () => (await pending(executionId))?.lastStartedTime);
      const cancelled = await cancel(flow, executionId);
      assert.equal(cancelled.status, 202, JSON.stringify(cancelled.body));
      await closed;
      const { status, errorMessage } = await finish(flow, executionId);
      assert.deepEqual([status, errorMessage], ['failed', 'The run was cancelled.']);
      assert.deepEqual([models.calls.length, await charges(executionId)], [1, 0]);
    });

    it(`as a ${kind} activity is finished by a worker that is asked to stop`, async () => {
      await begin(fastMs);
      models.will(hang);
      const asked = models.nextCall();
      const flow = await ask();
      const executionId = await start(flow);
      const response = await asked;
      if (kind === 'regular') await waitUntil(async () => (await pending(executionId))?.lastStartedTime);
      const stopped = weir.stopWorker();
      answer('done')(response);
      await stopped;
      await weir.startWorker();
      assert.equal((await finish(flow, executionId)).result, 'done');
      assert.deepEqual([models.calls.length, await charges(executionId)], [1, 1]);
    });
  }

  it('in a parallel step is aborted as soon as another branch fails', async () => {
    await begin(FAST_MS);
    models.will(hang, respond(400, { error: { message: 'no' } }));
    const asked = models.nextCall();
    const branches = {
      a: [llm('ask', 'x', 'demo/chat')],
      b: [llm('other', 'x', 'demo/chat')],
    };
    const flow = await weir.createFlow(tenant, [{ type: 'parallel', step_id: 'p', name: 'p', branches }]);
    const executionId = await start(flow);
    const closed = once(await asked, 'close');
    assert.equal((await finish(flow, executionId)).status, 'failed');
    await closed;
    assert.equal(await charges(executionId), 0);
  });

  it('that the provider refuses at first goes on as a regular activity, with the refusal counted and shown', async () => {
    await begin(FAST_MS);
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

  it('that follows one lost with its workflow task counts both', async () => {
    await begin(FAST_MS);
    models.will(hang, answer('done'));
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
      [1, 2],
    );
  });

  it('whose answers cannot be read is given up at the third, the local one counted', async () => {
    await begin(FAST_MS);
    const garbled = respond(200, '{"choices": [', { 'retry-after': '0' });
    models.will(garbled, garbled, garbled);
    const flow = await ask();
    const { status, blocks } = await finish(flow, await start(flow));
    assert.deepEqual([status, blocks[0].attempts, models.calls.length], ['failed', 3, 3]);
  });
});

// Deleting a project or an organization ends its work.
import assert from 'node:assert/strict';
import { reconcileRuns } from '../../../worker/reconciler/reconcile-runs.ts';
import { llm, passthrough } from '../../blocks.ts';
import { answer, callTools, respond } from '../../fakes/model-server.ts';
import type { Organization } from '../../organization.ts';
import { waitUntil } from '../../wait-until.ts';
import { asking, MODEL, toolCall, weather } from '../runs/tool-calls-harness.ts';
import { type DeletionWeir, NOTHING, PATHS, startDeletionWeir } from './deletion-harness.ts';

describe('DELETE', () => {
  let scene: DeletionWeir;
  let about: Organization;
  before(async () => {
    scene = await startDeletionWeir();
  });
  beforeEach(async () => {
    about = await scene.createOrganization();
  });
  after(() => scene.stop());

  const charges = async () => {
    const rows = await scene.weir.db
      .selectFrom('ledger_entry')
      .select('id')
      .where('organization_id', '=', about.organizationId)
      .where('kind', '=', 'charge')
      .execute();
    return rows.length;
  };

  for (const [what, path] of Object.entries(PATHS))
    describe(`of ${what}`, () => {
      it('cancels runs under way, ends those that wait for their caller, and says how many', async () => {
        const flow = await scene.weir.createFlow(about, [
          llm('a', 'x', 'demo/chat'),
          llm('b', 'x', 'demo/chat'),
        ]);
        const held = await scene.startHeld(about, flow);
        const tools = await scene.weir.createFlow(about, [asking('ask')]);
        scene.models.will(callTools([toolCall('c1')]));
        const paused = await scene.post(about, `${tools}/execute`, { message: 'm', tools: [weather] });
        assert.equal(paused.body.status, 'tool_calls_required', JSON.stringify(paused.body));
        const two = await scene.weir.createFlow(about, [passthrough('a'), passthrough('b')]);
        const step = await fetch(`${scene.weir.url}/api/v1/seq/${two}/step`, {
          method: 'POST',
          headers: { authorization: `Bearer ${about.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ stepIndex: 0, message: 'm' }),
        });
        const session = /"executionId":"([^"]+)"/.exec(await step.text())?.[1] as string;
        const ended = await scene.post(about, `${two}/execute`, { message: 'm' });
        const before = await charges();

        const { status, body } = await scene.remove(about, path(about));
        const cancelled = { ...NOTHING, runs: 3 };
        assert.deepEqual([status, body], [200, { id: path(about).split('/')[2], cancelled }]);
        for (const executionId of [paused.body.executionId, session])
          assert.deepEqual((await scene.rowOf(executionId)).error?.code, 'CANCELLED');
        answer('late')(held.response);
        assert.equal((await scene.whenEnded(held.executionId)).error?.code, 'CANCELLED');
        assert.equal((await scene.rowOf(ended.body.executionId)).status, 'completed');
        assert.equal(await charges(), before, 'something was charged after the answer');
        const [entry] = await scene.weir.db
          .selectFrom('audit_entry')
          .select(['action', 'details'])
          .where('organization_id', '=', about.organizationId)
          .where('action', 'like', '%.delete')
          .execute();
        assert.equal(entry?.action, `${what.split(' ')[1]}.delete`);
        assert.deepEqual(entry?.details.cancelled, cancelled);
      });

      it('is accepted while the engine is away; the engine is told when it is back', async () => {
        const flow = await scene.weir.createFlow(about, [llm('a', 'x', 'demo/chat')]);
        // A run whose block waits for its next attempt: a call under way would hear of the end from the database.
        scene.models.will(respond(503, {}, { 'retry-after': '60' }));
        const { body } = await scene.post(about, `${flow}/jobs`, { message: 'm' });
        const executionId = body.executionId as string;
        const { withDeadline, workflow } = scene.weir.client;
        await waitUntil(async () => {
          const { raw } = await workflow.getHandle(executionId).describe();
          return raw.pendingActivities?.some(({ lastFailure }) => lastFailure);
        });
        scene.weir.client.withDeadline = () => Promise.reject(new Error('away'));
        try {
          assert.deepEqual((await scene.remove(about, path(about))).body.cancelled, { ...NOTHING, runs: 1 });
        } finally {
          scene.weir.client.withDeadline = withDeadline;
        }
        assert.equal((await scene.rowOf(executionId)).status, 'started');
        await reconcileRuns(
          { db: scene.weir.db, client: scene.weir.client, taskQueue: scene.weir.config.taskQueue },
          0,
        );
        assert.equal((await scene.whenEnded(executionId)).error?.code, 'CANCELLED');
      });

      it('ends open deliveries; a run that ends later adds none', async () => {
        const flow = await scene.weir.createFlow(about, [passthrough('a')]);
        const callback = { callbackUrl: 'https://hook.test/' };
        const { body } = await scene.post(about, `${flow}/jobs`, { message: 'm', ...callback });
        const deliveries = () =>
          scene.weir.db
            .selectFrom('webhook_delivery')
            .select(['execution_id', 'status', 'error_message'])
            .where('organization_id', '=', about.organizationId)
            .execute();
        await waitUntil(async () => (await deliveries()).length > 0);
        const asks = await scene.weir.createFlow(about, [llm('a', 'x', 'demo/chat')]);
        const { executionId } = await scene.startHeld(about, asks, callback);
        assert.deepEqual((await scene.remove(about, path(about))).body.cancelled, {
          ...NOTHING,
          runs: 1,
          deliveries: 1,
        });
        await scene.whenEnded(executionId);
        assert.deepEqual(await deliveries(), [
          {
            execution_id: body.executionId,
            status: 'failed_permanent',
            error_message: 'The project or organization was deleted before the delivery was made.',
          },
        ]);
      });

      it('stops runs that brought their own model keys', async () => {
        const flow = await scene.weir.createFlow(about, [llm('a', 'x', MODEL), llm('b', 'x', MODEL)]);
        const { executionId, response } = await scene.startHeld(
          about,
          flow,
          {},
          { 'x-weir-model-key': 'openai=sk-own' },
        );
        const asked = scene.models.calls.length;
        await scene.remove(about, path(about));
        answer('late')(response);
        assert.equal((await scene.whenEnded(executionId)).error?.code, 'CANCELLED');
        assert.equal(scene.models.calls.length, asked, 'a model was asked after the deletion');
      });
    });

  it('of a project leaves the other projects of its organization alone', async () => {
    const path = `/organizations/${about.organizationId}`;
    const { body } = await scene.weir.call('POST', '/projects', {
      key: about.token.owner,
      body: { name: 'Other', slug: 'other', organization_id: about.organizationId },
    });
    const flow = await scene.weir.createFlow(about, [llm('a', 'x', 'demo/chat')]);
    const { executionId, response } = await scene.startHeld(about, flow);
    assert.deepEqual((await scene.remove(about, `/projects/${body.id}`)).body.cancelled, NOTHING);
    answer('done')(response);
    assert.equal((await scene.whenEnded(executionId)).status, 'completed');
    assert.deepEqual((await scene.remove(about, path)).body.cancelled, NOTHING);
  });
});

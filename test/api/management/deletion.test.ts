// What is under way in a project or an organization that is deleted.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { reconcileRuns } from '../../../worker/reconcile-runs.ts';
import { acceptRun } from '../../accept-run.ts';
import { llm, passthrough } from '../../blocks.ts';
import { duringTransaction } from '../../db/during-transaction.ts';
import { countLockWaiters, lockWaiters } from '../../db/lock-waiters.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import {
  answer,
  callTools,
  type FakeModelServer,
  hang,
  startFakeModelServer,
} from '../../fakes/model-server.ts';
import { type Answer, startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { waitUntil } from '../../wait-until.ts';
import { asking, MODEL, toolCall, weather } from '../runs/tool-calls-harness.ts';

const NOTHING = { runs: 0, testRuns: 0, deliveries: 0 };
const PATHS: { [what: string]: (about: Organization) => string } = {
  'a project': ({ projectId }) => `/projects/${projectId}`,
  'an organization': ({ organizationId }) => `/organizations/${organizationId}`,
};

describe('DELETE', () => {
  let provider: IdentityProvider;
  let models: FakeModelServer;
  let weir: Weir;
  let about: Organization;
  before(async () => {
    provider = await startIdentityProvider();
    models = await startFakeModelServer();
    const { baseUrl, apiKey } = models.provider;
    weir = await startWeir({
      env: {
        ...provider.env,
        DEMO_BASE_URL: baseUrl,
        OPENAI_BASE_URL: baseUrl,
        OPENAI_API_KEY: apiKey,
        WEIR_TEST_DIAL_MAP: JSON.stringify({ 'hook.test': '127.0.0.1:1' }),
      },
    });
  });
  beforeEach(async () => {
    models.forget();
    about = await createOrganization(weir, provider);
    await weir.db.deleteFrom('model_key').execute();
  });
  after(async () => {
    await weir.stop();
    await models.close();
    await provider.close();
  });

  const remove = (path: string): Promise<Answer> => weir.call('DELETE', path, { key: about.token.owner });
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    weir.call('POST', path, { key: about.key, body, headers });
  const rowOf = (executionId: string) =>
    weir.db
      .selectFrom('run')
      .select(['status', 'error', 'cancel_requested_at'])
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
  const whenEnded = (executionId: string) =>
    waitUntil(async () => {
      const row = await rowOf(executionId);
      return row.status !== 'started' && row;
    });
  const charges = async () => {
    const rows = await weir.db
      .selectFrom('ledger_entry')
      .select('id')
      .where('organization_id', '=', about.organizationId)
      .where('kind', '=', 'charge')
      .execute();
    return rows.length;
  };
  /** Starts a job that has asked a model; `response` is what that has not answered. */
  const startHeld = async (flow: string, more: object = {}, headers: Record<string, string> = {}) => {
    models.will(hang);
    const asked = models.nextCall();
    const { body } = await post(`${flow}/jobs`, { message: 'm', ...more }, headers);
    return { executionId: body.executionId as string, response: await asked };
  };
  const look = () => reconcileRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);

  for (const [what, path] of Object.entries(PATHS))
    describe(`of ${what}`, () => {
      it('cancels runs under way, ends those that wait for their caller, and says how many', async () => {
        const flow = await weir.createFlow(about, [llm('a', 'x', 'demo/chat'), llm('b', 'x', 'demo/chat')]);
        const held = await startHeld(flow);
        const tools = await weir.createFlow(about, [asking('ask')]);
        models.will(callTools([toolCall('c1')]));
        const paused = await post(`${tools}/execute`, { message: 'm', tools: [weather] });
        assert.equal(paused.body.status, 'tool_calls_required', JSON.stringify(paused.body));
        const two = await weir.createFlow(about, [passthrough('a'), passthrough('b')]);
        const step = await fetch(`${weir.url}/api/v1/seq/${two}/step`, {
          method: 'POST',
          headers: { authorization: `Bearer ${about.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ stepIndex: 0, message: 'm' }),
        });
        const session = /"executionId":"([^"]+)"/.exec(await step.text())?.[1] as string;
        const ended = await post(`${two}/execute`, { message: 'm' });
        const before = await charges();

        const { status, body } = await remove(path(about));
        const cancelled = { ...NOTHING, runs: 3 };
        assert.deepEqual([status, body], [200, { id: path(about).split('/')[2], cancelled }]);
        for (const executionId of [paused.body.executionId, session])
          assert.deepEqual((await rowOf(executionId)).error?.code, 'CANCELLED');
        answer('late')(held.response);
        assert.equal((await whenEnded(held.executionId)).error?.code, 'CANCELLED');
        assert.equal((await rowOf(ended.body.executionId)).status, 'completed');
        assert.equal(await charges(), before, 'something was charged after the answer');
        const [entry] = await weir.db
          .selectFrom('audit_entry')
          .select(['action', 'details'])
          .where('organization_id', '=', about.organizationId)
          .where('action', 'like', '%.delete')
          .execute();
        assert.equal(entry?.action, `${what.split(' ')[1]}.delete`);
        assert.deepEqual(entry?.details.cancelled, cancelled);
      });

      it('counts a run that is being charged at the moment, and charges it no further', async () => {
        const flow = await weir.createFlow(about, [passthrough('a')]);
        const { executionId } = await acceptRun(weir, about, flow);
        let pending: Promise<Answer> | undefined;
        await weir.db.transaction().execute(async (tx) => {
          // As a charge does it: first the run, then the organization.
          await sql`select from run where execution_id = ${executionId} for share`.execute(tx);
          pending = remove(path(about));
          await lockWaiters(weir.db, 1);
          // A deletion that waited here with the organization in its hands would wait for ever.
          await sql`select from organization where id = ${about.organizationId} for no key update`.execute(
            tx,
          );
        });
        assert.deepEqual((await pending)?.body.cancelled, { ...NOTHING, runs: 1 });
        assert.notEqual((await rowOf(executionId)).cancel_requested_at, null);
      });

      it('finds a run that is accepted at the very moment before it', async () => {
        const flow = await weir.createFlow(about, [llm('a', 'x', 'demo/chat')]);
        const flowId = await weir.db
          .selectFrom('flow_version')
          .innerJoin('flow', 'flow.id', 'flow_version.flow_id')
          .select(['flow.id', 'flow_version.id as version'])
          .where('flow.slug', '=', flow.split('/')[2] ?? '')
          .executeTakeFirstOrThrow();
        const executionId = crypto.randomUUID();
        const { body } = await duringTransaction(
          weir.db,
          (tx) =>
            tx
              .insertInto('run')
              .values({
                execution_id: executionId,
                organization_id: about.organizationId,
                project_id: about.projectId,
                flow_id: flowId.id,
                flow_version_id: flowId.version,
                mode: 'jobs',
                environment: 'live',
                input: JSON.stringify({ message: 'm', parameters: {}, block_overrides: {} }),
              })
              .execute(),
          () => remove(path(about)),
        );
        assert.equal(body.cancelled.runs, 1);
        assert.equal((await whenEnded(executionId)).error?.code, 'CANCELLED');
      });

      for (const headers of [{}, { 'idempotency-key': 'once' }] as Record<string, string>[])
        it(`refuses a run that comes at the very moment after it${'idempotency-key' in headers ? ', also with an Idempotency-Key' : ''}`, async () => {
          const flow = await weir.createFlow(about, [passthrough('a')]);
          const { projectId } = about;
          const refused = await duringTransaction(
            weir.db,
            async (tx) => {
              await tx.selectFrom('project').select('id').where('id', '=', projectId).forUpdate().execute();
              await tx
                .updateTable('project')
                .set({ deleted_at: new Date() })
                .where('id', '=', projectId)
                .execute();
            },
            () => post(`${flow}/execute`, { message: 'm' }, headers),
          );
          assert.deepEqual([refused.status, refused.body.detail.code], [404, 'FLOW_NOT_FOUND']);
          assert.equal(refused.body.detail.executionId, undefined);
          const left = await weir.db
            .selectFrom('run')
            .select('status')
            .where('project_id', '=', projectId)
            .execute();
          assert.deepEqual(left, []);
        });

      it('is accepted while the engine is away, which is told when it is back', async () => {
        const flow = await weir.createFlow(about, [llm('a', 'x', 'demo/chat')]);
        const { executionId } = await startHeld(flow);
        const { withDeadline } = weir.client;
        weir.client.withDeadline = () => Promise.reject(new Error('away'));
        try {
          assert.deepEqual((await remove(path(about))).body.cancelled, { ...NOTHING, runs: 1 });
        } finally {
          weir.client.withDeadline = withDeadline;
        }
        assert.equal((await rowOf(executionId)).status, 'started');
        await look();
        assert.equal((await whenEnded(executionId)).error?.code, 'CANCELLED');
      });

      it('ends deliveries that are still to be made, and no run that ends after it adds one', async () => {
        const flow = await weir.createFlow(about, [passthrough('a')]);
        const callback = { callbackUrl: 'https://hook.test/' };
        const { body } = await post(`${flow}/jobs`, { message: 'm', ...callback });
        const deliveries = () =>
          weir.db
            .selectFrom('webhook_delivery')
            .select(['execution_id', 'status', 'error_message'])
            .where('organization_id', '=', about.organizationId)
            .execute();
        await waitUntil(async () => (await deliveries()).length > 0);
        const asks = await weir.createFlow(about, [llm('a', 'x', 'demo/chat')]);
        const { executionId } = await startHeld(asks, callback);
        assert.deepEqual((await remove(path(about))).body.cancelled, { ...NOTHING, runs: 1, deliveries: 1 });
        await whenEnded(executionId);
        assert.deepEqual(await deliveries(), [
          {
            execution_id: body.executionId,
            status: 'failed_permanent',
            error_message: 'Its project or organization was deleted before it was delivered.',
          },
        ]);
      });

      it('stops runs with keys of their own', async () => {
        const flow = await weir.createFlow(about, [llm('a', 'x', MODEL), llm('b', 'x', MODEL)]);
        const { executionId, response } = await startHeld(flow, {}, { 'x-weir-model-key': 'openai=sk-own' });
        const asked = models.calls.length;
        await remove(path(about));
        answer('late')(response);
        assert.equal((await whenEnded(executionId)).error?.code, 'CANCELLED');
        assert.equal(models.calls.length, asked, 'a model was asked after the deletion');
      });

      it('is 404 when it is repeated, and to all but one of several at once', async () => {
        const flow = await weir.createFlow(about, [llm('a', 'x', 'demo/chat')]);
        await startHeld(flow);
        const answers = await Promise.all([1, 2, 3].map(() => remove(path(about))));
        assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404]);
        assert.equal((await remove(path(about))).status, 404);
        assert.equal(await countLockWaiters(weir.db), 0);
      });
    });

  it('of a project leaves what its organization has elsewhere', async () => {
    const path = `/organizations/${about.organizationId}`;
    const { body } = await weir.call('POST', '/projects', {
      key: about.token.owner,
      body: { name: 'Other', slug: 'other', organization_id: about.organizationId },
    });
    const flow = await weir.createFlow(about, [llm('a', 'x', 'demo/chat')]);
    const { executionId, response } = await startHeld(flow);
    assert.deepEqual((await remove(`/projects/${body.id}`)).body.cancelled, NOTHING);
    answer('done')(response);
    assert.equal((await whenEnded(executionId)).status, 'completed');
    assert.deepEqual((await remove(path)).body.cancelled, NOTHING);
  });
});

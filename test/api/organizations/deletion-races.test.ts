// Requests that arrive at the very moment at which a project or an organization is deleted.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { acceptRun } from '../../accept-run.ts';
import { llm, passthrough } from '../../blocks.ts';
import { duringTransaction } from '../../db/during-transaction.ts';
import { countLockWaiters, lockWaiters } from '../../db/lock-waiters.ts';
import type { Answer } from '../../harness.ts';
import type { Organization } from '../../organization.ts';
import {
  type DeletionWeir,
  deleteAll,
  deleteProject,
  NOTHING,
  PATHS,
  startDeletionWeir,
} from './deletion-harness.ts';

describe('DELETE at the same moment', () => {
  let scene: DeletionWeir;
  let about: Organization;
  before(async () => {
    scene = await startDeletionWeir();
  });
  beforeEach(async () => {
    about = await scene.createOrganization();
  });
  after(() => scene.stop());

  for (const [what, change] of [
    ['a project', deleteProject],
    ['an organization', deleteAll],
  ] as const) {
    const path = PATHS[what];
    describe(`of ${what}`, () => {
      it('counts a run that is just being charged, and charges it no further', async () => {
        const flow = await scene.weir.createFlow(about, [passthrough('a')]);
        const { executionId } = await acceptRun(scene.weir, about, flow);
        let pending: Promise<Answer> | undefined;
        await scene.weir.db.transaction().execute(async (tx) => {
          // As a charge does it: first the run, then the organization.
          await sql`select from run where execution_id = ${executionId} for share`.execute(tx);
          pending = scene.remove(about, path(about));
          await lockWaiters(scene.weir.db, 1);
          // A deletion that waited here with the organization in its hands would wait for ever.
          await sql`select from organization where id = ${about.organizationId} for no key update`.execute(
            tx,
          );
        });
        assert.deepEqual((await pending)?.body.cancelled, { ...NOTHING, runs: 1 });
        assert.notEqual((await scene.rowOf(executionId)).cancel_requested_at, null);
      });

      it('finds a run that is accepted just before it', async () => {
        const flow = await scene.weir.createFlow(about, [llm('a', 'x', 'demo/chat')]);
        const flowId = await scene.weir.db
          .selectFrom('flow_version')
          .innerJoin('flow', 'flow.id', 'flow_version.flow_id')
          .select(['flow.id', 'flow_version.id as version'])
          .where('flow.slug', '=', flow.split('/')[2] ?? '')
          .executeTakeFirstOrThrow();
        const executionId = crypto.randomUUID();
        const { body } = await duringTransaction(
          scene.weir.db,
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
          () => scene.remove(about, path(about)),
        );
        assert.equal(body.cancelled.runs, 1);
        assert.equal((await scene.whenEnded(executionId)).error?.code, 'CANCELLED');
      });

      for (const headers of [{}, { 'idempotency-key': 'once' }] as Record<string, string>[])
        it(`refuses a run that comes just after it${'idempotency-key' in headers ? ', also with an Idempotency-Key' : ''}`, async () => {
          const flow = await scene.weir.createFlow(about, [passthrough('a')]);
          const { projectId } = about;
          const refused = await duringTransaction(
            scene.weir.db,
            (tx) => change(tx, about),
            () => scene.post(about, `${flow}/execute`, { message: 'm' }, headers),
          );
          assert.deepEqual([refused.status, refused.body.detail.code], [404, 'FLOW_NOT_FOUND']);
          assert.equal(refused.body.detail.executionId, undefined);
          const left = await scene.weir.db
            .selectFrom('run')
            .select('status')
            .where('project_id', '=', projectId)
            .execute();
          assert.deepEqual(left, []);
        });

      it('answers 404 when repeated, and to all but one of several at once', async () => {
        const flow = await scene.weir.createFlow(about, [llm('a', 'x', 'demo/chat')]);
        await scene.startHeld(about, flow);
        const answers = await Promise.all([1, 2, 3].map(() => scene.remove(about, path(about))));
        assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404]);
        assert.equal((await scene.remove(about, path(about))).status, 404);
        assert.equal(await countLockWaiters(scene.weir.db), 0);
      });
    });
  }
});

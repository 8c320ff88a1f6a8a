import assert from 'node:assert/strict';
import { snapshotDraft } from '../../../db/flows/draft-snapshots.ts';
import { createFlowDefinitions } from '../../../db/flows/flow-definitions.ts';
import { insertFlow } from '../../../db/flows/flows.ts';
import { getVersion, publishVersion } from '../../../db/flows/versions.ts';
import type { Step } from '../../../flow/definition.ts';
import { passthrough } from '../../blocks.ts';
import { createProject } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { watchStatements } from '../watch-statements.ts';

describe('the definitions of flows', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** Publishes a flow; answers what it takes to load it, and counts the statements of that. */
  async function publish(steps: Step[]) {
    const { db } = database;
    const { organization, project } = await createProject(db);
    const flow = await insertFlow(db, {
      projectId: project.id,
      slug: 'flow',
      name: 'Flow',
      definition: { steps },
    });
    const { id } = await getVersion(db, flow.id, await publishVersion(db, flow.id, ''));
    let statements = 0;
    const watched = watchStatements(db, () => {
      statements += 1;
    });
    return {
      id,
      organizationId: organization.id,
      definitions: createFlowDefinitions(watched),
      countStatements: () => statements,
    };
  }

  it('are loaded once for all who ask at a time, and kept', async () => {
    const { id, definitions, countStatements } = await publish([passthrough('a')]);
    const [one, other] = await Promise.all([definitions.get(id), definitions.get(id)]);
    assert.deepEqual(one, { steps: [passthrough('a')] });
    assert.equal(one, other);
    assert.equal(await definitions.get(id), one);
    assert.equal(countStatements(), 1);
  });

  it('are loaded again after they could not be', async () => {
    const { id } = await publish([]);
    const failures = [new Error('no answer')];
    const definitions = createFlowDefinitions(
      watchStatements(database.db, () => {
        const failure = failures.pop();
        if (failure) throw failure;
      }),
    );
    await assert.rejects(definitions.get(id), /no answer/);
    assert.deepEqual(await definitions.get(id), { steps: [] });
  });

  it('have their blocks counted once, and the number stored', async () => {
    const loop: Step = { type: 'loop', step_id: 'l', name: 'l', max_iterations: 2, body: [passthrough('b')] };
    const { id, definitions, countStatements } = await publish([passthrough('a'), loop]);
    const counted = await Promise.all([definitions.countBlocks(id), definitions.countBlocks(id)]);
    assert.deepEqual(counted, [2, 2]);
    assert.equal(countStatements(), 2);
    const { block_count } = await database.db
      .selectFrom('flow_version')
      .select('block_count')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    assert.equal(block_count, 2);
    const change = (changes: object) =>
      database.db.updateTable('flow_version').set(changes).where('id', '=', id).execute();
    await assert.rejects(change({ block_count: 3 }), /never changes/);
  });

  it('of drafts have their blocks counted when they are stored for a run', async () => {
    const { db } = database;
    const { project } = await createProject(db);
    const flow = await insertFlow(db, { projectId: project.id, slug: 'flow', name: 'Flow' });
    const id = await snapshotDraft(db, flow.id, { steps: [passthrough('a'), passthrough('b')] });
    const stored = db.selectFrom('flow_version').select('block_count').where('id', '=', id);
    assert.equal((await stored.executeTakeFirstOrThrow()).block_count, 2);
  });

  it('have their blocks counted also where the number cannot be stored', async () => {
    const { id } = await publish([passthrough('a')]);
    const readOnly = watchStatements(database.db, ({ kind }) => {
      if (kind === 'UpdateQueryNode') throw new Error('cannot execute UPDATE in a read-only transaction');
    });
    assert.equal(await createFlowDefinitions(readOnly).countBlocks(id), 1);
  });

  it('never change when their blocks are counted', async () => {
    const { id } = await publish([passthrough('a')]);
    for (const changes of [{ note: 'x' }, { definition: '{"steps": []}' }])
      await assert.rejects(
        database.db
          .updateTable('flow_version')
          .set({ block_count: 1, ...changes })
          .where('id', '=', id)
          .execute(),
        /never changes/,
      );
  });
});

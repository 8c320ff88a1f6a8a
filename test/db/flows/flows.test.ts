import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { findFlowSummary } from '../../../db/flows/flow-summaries.ts';
import { findFlowBySlug, insertFlow, updateDraft } from '../../../db/flows/flows.ts';
import {
  getVersion,
  listVersions,
  publishVersion,
  setProductionVersion,
} from '../../../db/flows/versions.ts';
import type { FlowDefinition } from '../../../flow/definition.ts';
import { createFlow, MISSING } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

function flowNamed(name: string): FlowDefinition {
  return { steps: [{ type: 'sequential', step_id: 'a', name, processor_type: 'passthrough' }] };
}

describe('flows', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('have a draft that edits replace, and a slug of their own', async () => {
    const flow = await createFlow(database.db);
    assert.deepEqual(flow.draft, { steps: [] });
    await updateDraft(database.db, flow.id, flowNamed('\u0000 and \ud800'));
    const found = await findFlowBySlug(database.db, flow.project_id, 'hello');
    assert.deepEqual(found?.draft, flowNamed('\u0000 and \ud800'));
    await assert.rejects(
      insertFlow(database.db, { projectId: flow.project_id, slug: 'hello', name: 'Again' }),
      { code: 'CONFLICT' },
    );
    await assert.rejects(updateDraft(database.db, MISSING, { steps: [] }), { code: 'NOT_FOUND' });
  });

  it('keep a published version as it was when the draft changes', async () => {
    const flow = await createFlow(database.db);
    await updateDraft(database.db, flow.id, flowNamed('one'));
    assert.equal(await publishVersion(database.db, flow.id, 'first'), 1);
    await updateDraft(database.db, flow.id, flowNamed('two'));
    const version = await getVersion(database.db, flow.id, 1);
    assert.equal(version.note, 'first');
    assert.deepEqual(version.definition, flowNamed('one'));
    await assert.rejects(getVersion(database.db, flow.id, 2), { code: 'NOT_FOUND' });
  });

  it('number their versions from 1 without gaps when 12 are published at once', async () => {
    const flow = await createFlow(database.db);
    const versions = await Promise.all(
      Array.from({ length: 12 }, (_, index) => publishVersion(database.db, flow.id, `note ${index}`)),
    );
    const expected = Array.from({ length: 12 }, (_, index) => index + 1);
    assert.deepEqual(
      versions.sort((a, b) => a - b),
      expected,
    );
    const listed = await listVersions(database.db, flow.id);
    assert.deepEqual(
      listed.map((row) => row.version),
      expected.reverse(),
    );
    await assert.rejects(publishVersion(database.db, MISSING, ''), { code: 'NOT_FOUND' });
  });

  it('run the version that is set as production, which must be published', async () => {
    const flow = await createFlow(database.db);
    await assert.rejects(setProductionVersion(database.db, flow.id, 1), { code: 'NOT_FOUND' });
    await publishVersion(database.db, flow.id, 'first');
    await setProductionVersion(database.db, flow.id, 1);
    const summary = await findFlowSummary(database.db, flow.project_id, flow.id);
    assert.deepEqual([summary?.production_version, summary?.latest_version], [1, 1]);
  });

  it('tell by digests whether the draft is a version', async () => {
    const { db } = database;
    const flow = await createFlow(db);
    await publishVersion(db, flow.id, '');
    const isLatest = async () => (await findFlowSummary(db, flow.project_id, flow.id))?.draft_is_latest;
    assert.equal(await isLatest(), true);
    await updateDraft(db, flow.id, flowNamed('other'));
    assert.equal(await isLatest(), false);
    await updateDraft(db, flow.id, { steps: [] });
    assert.equal(await isLatest(), true);
    await sql`update flow set draft_digest = '\\x00' where id = ${flow.id}`.execute(db);
    assert.equal(await isLatest(), false);
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { AcceptDeps } from '../../../../api/deps.ts';
import type { CallRequest } from '../../../../api/runs/calls/call-request.ts';
import { type CallToStore, storeCall } from '../../../../api/runs/calls/store-call.ts';
import { snapshotDraft } from '../../../../db/flows/draft-snapshots.ts';
import { insertFlow } from '../../../../db/flows/flows.ts';
import { getVersion, publishVersion } from '../../../../db/flows/versions.ts';
import { deleteDefinitions } from '../../../../db/upkeep/delete-definitions.ts';
import { DRAFT_VERSION, type FlowDefinition } from '../../../../flow/definition.ts';
import { createProject } from '../../../db/project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../../db/test-database.ts';

const EMPTY: FlowDefinition = { steps: [] };

describe('a run whose version is deleted before it is stored', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** Finds a version of a new flow, deletes both, and stores a run of it then. */
  async function storeLate(version: number, find: (flowId: string) => Promise<string>) {
    const { db } = database;
    const { organization, project } = await createProject(db);
    const { id: flowId } = await insertFlow(db, { projectId: project.id, slug: 'hello', name: 'Hello' });
    const flowVersionId = await find(flowId);
    await sql`update flow set deleted_at = now() - interval '1 hour' where id = ${flowId}`.execute(db);
    await deleteDefinitions(db, 10);
    const flow = { organizationId: organization.id, projectId: project.id, flowId };
    const request = { flow, environment: 'live' } as CallRequest<unknown>;
    const input = { message: 'm', parameters: {}, block_overrides: {} };
    const call: CallToStore = {
      callId: randomUUID(),
      mode: 'jobs',
      input,
      version,
      flowVersionId,
      definition: EMPTY,
    };
    const accepted = storeCall({ db, config: { runsUnderWayMax: 0 } } as AcceptDeps, request, call);
    await accepted.catch(() => undefined);
    const { rows } = await sql`select version from flow_version where flow_id = ${flowId}`.execute(db);
    return { accepted, versions: rows };
  }

  it('is refused where the version was published, rather than stored as a run of the draft', async () => {
    const { db } = database;
    const find = async (flowId: string) =>
      (await getVersion(db, flowId, await publishVersion(db, flowId, ''))).id;
    const { accepted, versions } = await storeLate(1, find);
    await assert.rejects(accepted, { code: 'FLOW_NOT_FOUND', message: /no published version/ });
    assert.deepEqual(versions, []);
  });

  it('is stored with the draft once more where it is one of the draft', async () => {
    const find = (flowId: string) => snapshotDraft(database.db, flowId, EMPTY);
    const { accepted, versions } = await storeLate(DRAFT_VERSION, find);
    assert.equal((await accepted)?.version, DRAFT_VERSION);
    assert.deepEqual(versions, [{ version: null }]);
  });
});

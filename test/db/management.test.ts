import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mintApiKey } from '../../api/api-key.ts';
import {
  ACTIVE_API_KEYS_MAX,
  findApiKey,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
} from '../../db/api-keys.ts';
import {
  findFlowBySlug,
  getVersion,
  insertFlow,
  listFlows,
  listVersions,
  publishVersion,
  setProductionVersion,
  updateDraft,
} from '../../db/flows.ts';
import { grantCredits, MICROCREDITS_PER_CREDIT } from '../../db/ledger.ts';
import { listRuns } from '../../db/list-runs.ts';
import { findOrganizationBySlug, insertOrganization, listOrganizations } from '../../db/organizations.ts';
import { findProjectBySlug, insertProject, listProjects } from '../../db/projects.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

const PEPPER = 'p'.repeat(32);
const MISSING = '00000000-0000-4000-8000-000000000000';

function flowNamed(name: string): FlowDefinition {
  return { steps: [{ type: 'sequential', step_id: 'a', name, processor_type: 'passthrough' }] };
}

describe('management queries', () => {
  let database: TestDatabase;
  let count = 0;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  async function newProject() {
    count += 1;
    const organization = await insertOrganization(database.db, { slug: `org-${count}`, name: 'Org' });
    const project = await insertProject(database.db, {
      organizationId: organization.id,
      slug: 'main',
      name: 'Main',
    });
    return { organization, project };
  }
  const newFlow = async () =>
    insertFlow(database.db, { projectId: (await newProject()).project.id, slug: 'hello', name: 'Hello' });

  describe('organizations and projects', () => {
    it('are found by slug, and a slug is taken once', async () => {
      const { organization, project } = await newProject();
      assert.deepEqual(await findOrganizationBySlug(database.db, organization.slug), organization);
      assert.deepEqual(await findProjectBySlug(database.db, organization.id, 'main'), project);
      assert.equal(await findOrganizationBySlug(database.db, 'nobody'), undefined);
      await assert.rejects(insertOrganization(database.db, { slug: organization.slug, name: 'Again' }), {
        code: 'CONFLICT',
      });
      await assert.rejects(
        insertProject(database.db, { organizationId: organization.id, slug: 'main', name: 'Again' }),
        { code: 'CONFLICT' },
      );
    });

    it('are not listed or found once deleted, and the slug is free again', async () => {
      const { organization, project } = await newProject();
      const deleted = { deleted_at: new Date() };
      await database.db.updateTable('project').set(deleted).where('id', '=', project.id).execute();
      assert.deepEqual(await listProjects(database.db, organization.id), []);
      assert.equal(await findProjectBySlug(database.db, organization.id, 'main'), undefined);
      await insertProject(database.db, { organizationId: organization.id, slug: 'main', name: 'New' });
      await database.db.updateTable('organization').set(deleted).where('id', '=', organization.id).execute();
      const slugs = (await listOrganizations(database.db)).map((row) => row.slug);
      assert.equal(slugs.includes(organization.slug), false);
    });
  });

  describe('API keys', () => {
    const newKey = (projectId: string, expiresAt?: Date) => {
      const minted = mintApiKey('live', PEPPER);
      return insertApiKey(database.db, {
        projectId,
        keyId: minted.keyId,
        environment: 'live',
        name: 'k',
        secretHmac: minted.secretHmac,
        ...(expiresAt && { expiresAt }),
      });
    };

    it(`are at most ${ACTIVE_API_KEYS_MAX} active per project, also when 20 are made at once`, async () => {
      const { project } = await newProject();
      const made = await Promise.allSettled(Array.from({ length: 20 }, () => newKey(project.id)));
      const refused = made.filter((result) => result.status === 'rejected');
      assert.equal(refused.length, 20 - ACTIVE_API_KEYS_MAX);
      for (const { reason } of refused) assert.equal(reason.code, 'CONFLICT');
      assert.equal((await listApiKeys(database.db, project.id)).length, ACTIVE_API_KEYS_MAX);
    });

    it('that are revoked or expired leave room for others', async () => {
      const { project } = await newProject();
      for (let made = 0; made < ACTIVE_API_KEYS_MAX; made += 1) await newKey(project.id, new Date(0));
      const keys = [];
      for (let made = 0; made < ACTIVE_API_KEYS_MAX; made += 1) keys.push(await newKey(project.id));
      await assert.rejects(newKey(project.id), { code: 'CONFLICT' });
      await revokeApiKey(database.db, project.id, keys[0]?.key_id as string);
      await newKey(project.id);
    });

    it('are found with the ids they are scoped to, and not in a deleted organization', async () => {
      const { organization, project } = await newProject();
      const key = await newKey(project.id);
      const found = await findApiKey(database.db, key.key_id);
      assert.equal(found?.project_id, project.id);
      assert.equal(found?.organization_id, organization.id);
      assert.equal(found?.secret_hmac.length, 32);
      await database.db
        .updateTable('organization')
        .set({ deleted_at: new Date() })
        .where('id', '=', organization.id)
        .execute();
      assert.equal(await findApiKey(database.db, key.key_id), undefined);
    });

    it('are revoked once, and only within their project', async () => {
      const { project } = await newProject();
      const key = await newKey(project.id);
      const other = (await newProject()).project;
      await assert.rejects(revokeApiKey(database.db, other.id, key.key_id), { code: 'NOT_FOUND' });
      const first = await revokeApiKey(database.db, project.id, key.key_id);
      const second = await revokeApiKey(database.db, project.id, key.key_id);
      assert.ok(first.revoked_at);
      assert.deepEqual(second.revoked_at, first.revoked_at);
    });

    it('are refused for an unknown project', () => assert.rejects(newKey(MISSING), { code: 'NOT_FOUND' }));
  });

  describe('flows', () => {
    it('have a draft that an edit replaces and a slug that is taken once', async () => {
      const flow = await newFlow();
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
      const flow = await newFlow();
      await updateDraft(database.db, flow.id, flowNamed('one'));
      assert.equal(await publishVersion(database.db, flow.id, 'first'), 1);
      await updateDraft(database.db, flow.id, flowNamed('two'));
      const version = await getVersion(database.db, flow.id, 1);
      assert.equal(version.note, 'first');
      assert.deepEqual(version.definition, flowNamed('one'));
      await assert.rejects(getVersion(database.db, flow.id, 2), { code: 'NOT_FOUND' });
    });

    it('number their versions from 1 without gaps when 12 are published at once', async () => {
      const flow = await newFlow();
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
      const flow = await newFlow();
      await assert.rejects(setProductionVersion(database.db, flow.id, 1), { code: 'NOT_FOUND' });
      await publishVersion(database.db, flow.id, 'first');
      await setProductionVersion(database.db, flow.id, 1);
      const [listed] = await listFlows(database.db, flow.project_id);
      assert.equal(listed?.production_version, 1);
      assert.equal(listed?.latest_version, 1);
    });
  });

  describe('credits', () => {
    it('are granted once per key, also when the grant is repeated at once', async () => {
      const { organization } = await newProject();
      const grants = await Promise.all(
        Array.from({ length: 8 }, () =>
          grantCredits(database.db, organization.id, 5 * MICROCREDITS_PER_CREDIT, 'grant/1'),
        ),
      );
      assert.equal(grants.filter((grant) => grant.granted).length, 1);
      for (const grant of grants) assert.equal(grant.balanceMicrocredits, 5_000_000);
      const again = await grantCredits(database.db, organization.id, 1, 'grant/2');
      assert.deepEqual(again, { granted: true, balanceMicrocredits: 5_000_001 });
    });

    it('are refused when the amount is not positive, whole and exact', async () => {
      const { organization } = await newProject();
      for (const amount of [0, -1, 0.5, Number.NaN, 2 ** 53])
        await assert.rejects(grantCredits(database.db, organization.id, amount, 'grant/1'), {
          code: 'VALIDATION_ERROR',
        });
      await assert.rejects(grantCredits(database.db, MISSING, 1, 'grant/1'), { code: 'NOT_FOUND' });
    });
  });

  describe('runs', () => {
    it('are listed newest first, by organization, project, flow and status, with their cost', async () => {
      const { organization, project } = await newProject();
      const flow = await insertFlow(database.db, { projectId: project.id, slug: 'listed', name: 'Listed' });
      await publishVersion(database.db, flow.id, '');
      const { id: flowVersionId } = await getVersion(database.db, flow.id, 1);
      const ids = [randomUUID(), randomUUID(), randomUUID()];
      for (const [index, executionId] of ids.entries())
        await database.db
          .insertInto('run')
          .values({
            execution_id: executionId,
            organization_id: organization.id,
            project_id: project.id,
            flow_id: flow.id,
            flow_version_id: flowVersionId,
            mode: 'jobs',
            environment: 'live',
            status: index === 1 ? 'completed' : 'started',
            input: JSON.stringify({ message: 'hi', parameters: {}, block_overrides: {} }),
            started_at: new Date(Date.UTC(2026, 0, 1 + index)),
          })
          .execute();
      for (const block of ['a', 'b'])
        await database.db
          .insertInto('block_run')
          .values({
            execution_id: ids[1] as string,
            block_key: block,
            step_id: block,
            name: block,
            processor_type: 'llm',
            status: 'completed',
            input: '{"ref":"$message"}',
            cost_microcredits: 21,
            latency_ms: 1,
            attempts: 1,
            started_at: new Date(),
            finished_at: new Date(),
          })
          .execute();
      const filter = { organization: organization.slug, project: 'main', flow: 'listed' };
      const all = await listRuns(database.db, { ...filter, limit: 10 });
      assert.deepEqual(
        all.map((run) => run.execution_id),
        [...ids].reverse(),
      );
      assert.equal((await listRuns(database.db, { ...filter, limit: 2 })).length, 2);
      const [completed, ...rest] = await listRuns(database.db, { ...filter, status: 'completed', limit: 10 });
      assert.equal(completed?.execution_id, ids[1]);
      assert.equal(completed?.cost_microcredits, 42);
      assert.deepEqual(rest, []);
      assert.deepEqual(await listRuns(database.db, { ...filter, flow: 'other', limit: 10 }), []);
    });
  });
});

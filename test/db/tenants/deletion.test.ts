import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mintApiKey } from '../../../api/auth/api-key.ts';
import type { Db } from '../../../db/connect.ts';
import { insertFlow } from '../../../db/flows/flows.ts';
import { insertApiKey } from '../../../db/tenants/api-keys.ts';
import { insertMember } from '../../../db/tenants/memberships.ts';
import { deleteOrganization, insertOrganization } from '../../../db/tenants/organizations.ts';
import { deleteProjects, insertProject } from '../../../db/tenants/projects.ts';
import { duringTransaction } from '../during-transaction.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

type Ids = { organizationId: string; projectId: string };
const named = { slug: 'new', name: 'New' };
const { keyId, secretHmac } = mintApiKey('live', 'p'.repeat(32));
const INSERTS: { [what: string]: (db: Db, ids: Ids) => Promise<unknown> } = {
  'a project': (db, { organizationId }) => insertProject(db, { organizationId, ...named }),
  'a member': (db, { organizationId }) => insertMember(db, { organizationId, userId: 'ada', role: 'owner' }),
  'a flow': (db, { projectId }) => insertFlow(db, { projectId, ...named }),
  'an API key': (db, { projectId }) =>
    insertApiKey(db, { projectId, keyId, environment: 'live', name: 'k', secretHmac }),
};

describe('a write into an organization that is being deleted', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  for (const [what, insert] of Object.entries(INSERTS))
    it(`is refused as for one that is deleted: ${what}`, async () => {
      const { db } = database;
      const { id: organizationId } = await insertOrganization(db, { slug: randomUUID(), name: 'Org' });
      const { id: projectId } = await insertProject(db, { organizationId, slug: 'main', name: 'Main' });
      const inserted = duringTransaction(
        db,
        async (tx) => {
          await deleteOrganization(tx, organizationId);
          await deleteProjects(tx, organizationId);
        },
        () => insert(db, { organizationId, projectId }),
      );
      await assert.rejects(inserted, { code: 'NOT_FOUND' });
    });
});

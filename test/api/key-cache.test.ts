import assert from 'node:assert/strict';
import { mintApiKey } from '../../api/api-key.ts';
import { createKeyCache } from '../../api/key-cache.ts';
import { insertApiKey, revokeApiKey } from '../../db/api-keys.ts';
import { insertOrganization } from '../../db/organizations.ts';
import { insertProject } from '../../db/projects.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';

describe('the cache of API keys', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('finds a revocation that was never announced within its 10 s', async function () {
    this.timeout(20_000);
    const { db } = database;
    const { id: organizationId } = await insertOrganization(db, { slug: 'acme', name: 'Acme' });
    const { id: projectId } = await insertProject(db, { organizationId, slug: 'p', name: 'P' });
    const { keyId, secretHmac } = mintApiKey('live', 'pepper');
    await insertApiKey(db, { projectId, keyId, environment: 'live', name: 'k', secretHmac });
    // Another database of the server announces nothing of this one.
    const elsewhere = new URL(database.url);
    elsewhere.pathname = '/postgres';
    const keys = createKeyCache(db, elsewhere.href);
    try {
      assert.equal((await keys.find(keyId))?.revoked_at, null);
      await revokeApiKey(db, projectId, keyId);
      assert.equal((await keys.find(keyId))?.revoked_at, null);
      while ((await keys.find(keyId))?.revoked_at === null)
        await new Promise((resolve) => setTimeout(resolve, 100));
    } finally {
      await keys.close();
    }
  });
});

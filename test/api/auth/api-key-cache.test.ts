import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { mintApiKey } from '../../../api/auth/api-key.ts';
import { createApiKeyCache } from '../../../api/auth/api-key-cache.ts';
import { createNotifications } from '../../../db/notifications.ts';
import { insertApiKey, revokeApiKey } from '../../../db/tenants/api-keys.ts';
import { insertOrganization } from '../../../db/tenants/organizations.ts';
import { insertProject } from '../../../db/tenants/projects.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';

const KEEP_MS = 10_000;

describe('the cache of API keys', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  afterEach(() => mock.restoreAll());

  it('notices a revocation that was never announced after 10 s', async () => {
    const { db } = database;
    const { id: organizationId } = await insertOrganization(db, { slug: 'acme', name: 'Acme' });
    const { id: projectId } = await insertProject(db, { organizationId, slug: 'p', name: 'P' });
    const { keyId, secretHmac } = mintApiKey('live', 'pepper');
    await insertApiKey(db, { projectId, keyId, environment: 'live', name: 'k', secretHmac });
    // With whole milliseconds, the end of the ten seconds is exact.
    let now = 1_000;
    mock.method(performance, 'now', () => now);
    // The cache reads the clock once per millisecond.
    const pass = (ms: number) => {
      now += ms;
      return setTimeout(2);
    };
    // Nothing is announced where nothing listens.
    const notifications = createNotifications('postgres://127.0.0.1:1/none');
    const keys = createApiKeyCache(db, notifications);
    try {
      assert.equal((await keys.find(keyId))?.revoked_at, null);
      await revokeApiKey(db, projectId, keyId);
      await pass(KEEP_MS);
      assert.equal((await keys.find(keyId))?.revoked_at, null);
      await pass(1);
      assert.ok((await keys.find(keyId))?.revoked_at);
    } finally {
      keys.close();
      await notifications.close();
    }
  });
});

import assert from 'node:assert/strict';
import { mintApiKey } from '../../../api/auth/api-key.ts';
import {
  ACTIVE_API_KEYS_MAX,
  findApiKey,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
} from '../../../db/tenants/api-keys.ts';
import { createProject, MISSING } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const PEPPER = 'p'.repeat(32);

describe('API keys', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

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
    const { project } = await createProject(database.db);
    const made = await Promise.allSettled(Array.from({ length: 20 }, () => newKey(project.id)));
    const refused = made.filter((result) => result.status === 'rejected');
    assert.equal(refused.length, 20 - ACTIVE_API_KEYS_MAX);
    for (const { reason } of refused) assert.equal(reason.code, 'CONFLICT');
    assert.equal((await listApiKeys(database.db, project.id)).length, ACTIVE_API_KEYS_MAX);
  });

  it('that are revoked or expired leave room for others', async () => {
    const { project } = await createProject(database.db);
    for (let made = 0; made < ACTIVE_API_KEYS_MAX; made += 1) await newKey(project.id, new Date(0));
    const keys = [];
    for (let made = 0; made < ACTIVE_API_KEYS_MAX; made += 1) keys.push(await newKey(project.id));
    await assert.rejects(newKey(project.id), { code: 'CONFLICT' });
    await revokeApiKey(database.db, project.id, keys[0]?.key_id as string);
    await newKey(project.id);
  });

  it('are found with the ids they are scoped to, and not in a deleted organization', async () => {
    const { organization, project } = await createProject(database.db);
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
    const { project } = await createProject(database.db);
    const key = await newKey(project.id);
    const other = (await createProject(database.db)).project;
    await assert.rejects(revokeApiKey(database.db, other.id, key.key_id), { code: 'NOT_FOUND' });
    const first = await revokeApiKey(database.db, project.id, key.key_id);
    const second = await revokeApiKey(database.db, project.id, key.key_id);
    assert.ok(first.row.revoked_at);
    assert.deepEqual([first.changed, second], [true, { row: first.row, changed: false }]);
  });

  it('are refused for an unknown project', () => assert.rejects(newKey(MISSING), { code: 'NOT_FOUND' }));
});

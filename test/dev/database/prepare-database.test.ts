import assert from 'node:assert/strict';
import { startPreparer } from '../../../dev/database/prepare-database.ts';
import { findFreePort } from '../../../dev/processes/ports.ts';
import type { Progress } from '../../../dev/progress.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';

describe('Preparing the database of a start', function () {
  this.timeout(60_000);
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const doings: string[] = [];
  const ends: string[] = [];
  const progress: Progress = {
    begin: () => ({
      say: (line) => doings.push(line),
      note: () => undefined,
      done: (detail = '') => ends.push(detail),
      drop: () => undefined,
    }),
    line: () => undefined,
  };
  const prepare = (databaseUrl: string, knownKey?: string, ownServer = false) =>
    startPreparer()(
      { databaseUrl, ownServer, apiKeyPepper: 'pepper'.repeat(8), knownKey, members: [] },
      progress,
    );

  it('answers with a demo API key, which the next start keeps while it works', async () => {
    const key = await prepare(database.url);
    assert.match(key, /^weir_test_/);
    assert.deepEqual(doings, ['updating the schema', 'adding the demo data']);
    assert.equal(await prepare(database.url, key), key);
    assert.equal(ends.at(-1), 'schema is up to date');
    assert.notEqual(await prepare(database.url, 'weir_test_of-somebody-else'), key);
  });

  it('says which server does not answer', async () => {
    const port = await findFreePort();
    await assert.rejects(prepare(`postgres://weir@127.0.0.1:${port}/weir`), {
      message: RegExp(`^The database at 127\\.0\\.0\\.1:${port} could not be prepared: .*ECONNREFUSED`),
    });
  });

  it('says that secrets.json is of another cluster when the stored password is wrong, and to delete nothing', async () => {
    const url = new URL(database.url);
    url.password = 'another';
    await assert.rejects(
      prepare(url.href, undefined, true),
      /stored password: secrets\.json.*not that of its PostgreSQL cluster.*move the cluster away.*Delete neither/,
    );
    await assert.rejects(prepare(url.href), /correct DATABASE_URL/);
  });

  it('says that the first start was cut off when its own server lacks the database', async () => {
    const url = new URL(database.url);
    url.pathname = '/never-created';
    await assert.rejects(prepare(url.href, undefined, true), /never created.*delete the state folder/);
  });
});

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { type Postgres, startPostgres } from '../../../dev/postgres/postgres.ts';
import { processStartTime } from '../../../dev/processes/end-process.ts';

describe('the PostgreSQL of a local start', () => {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-postgres-'));
  let postgres: Postgres;

  const start = async () => {
    postgres = await startPostgres({ stateFolder, password: 'a secret', database: 'weir' });
  };
  const query = async (sql: string, url = postgres.url) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };

  before(async () => {
    // A first start that was killed leaves an unfinished cluster.
    const partial = path.join(stateFolder, 'postgres', 'data.new');
    mkdirSync(partial, { recursive: true });
    chmodSync(stateFolder, 0o700);
    writeFileSync(path.join(partial, 'PG_VERSION'), '18');
    await start();
  });
  after(async () => {
    await postgres.stop();
    rmSync(postgres.folder, { recursive: true });
    rmSync(stateFolder, { recursive: true, force: true });
  });

  it('is durable, in UTF-8, and sorts the same everywhere', async () => {
    const [row] = await query(
      "select current_setting('fsync') fsync, current_setting('server_encoding') encoding, lower('ÄÖ') lower, " +
        "(select datlocprovider from pg_database where datname = 'weir') provider",
    );
    assert.deepEqual(row, { fsync: 'on', encoding: 'UTF8', lower: 'äö', provider: 'b' });
  });

  it('requires its password', async () => {
    await assert.rejects(query('select 1', postgres.url.replace('a%20secret', 'other')), { code: '28P01' });
  });

  it('keeps committed data after kill -9 of all its processes', async () => {
    await query('create table kept (id int); insert into kept values (1)');
    process.kill(postgres.child.pid, 'SIGKILL');
    assert.equal(await postgres.child.exited, 'was ended by SIGKILL');
    await start();
    assert.deepEqual(await query('select id from kept'), [{ id: 1 }]);
  });

  it('ends a server that a vanished start left running', async () => {
    const left = postgres;
    await start();
    assert.equal(processStartTime(left.child.pid), undefined);
    assert.deepEqual(await query('select id from kept'), [{ id: 1 }]);
  });

  it('starts over a lock file whose process number belongs to another program now', async () => {
    const lockFile = path.join(postgres.folder, 'data', 'postmaster.pid');
    const lock = readFileSync(lockFile, 'utf8');
    await postgres.stop();
    writeFileSync(lockFile, lock.replace(/^\d+/, String(process.pid)));
    await start();
    assert.deepEqual(await query('select id from kept'), [{ id: 1 }]);
  });

  it('says what to do with data of another major version of PostgreSQL, and leaves them as they are', async () => {
    await postgres.stop();
    const version = path.join(postgres.folder, 'data', 'PG_VERSION');
    const made = readFileSync(version, 'utf8');
    writeFileSync(version, '17\n');
    await assert.rejects(
      start(),
      /is of PostgreSQL 17, and this release .* move that folder away.*upgrades\.md says how to keep/,
    );
    writeFileSync(version, made);
    await start();
    assert.deepEqual(await query('select id from kept'), [{ id: 1 }]);
  });
});

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { restoreBackup } from '../../db/backup/restore-backup.ts';
import { writeBackup } from '../../db/backup/write-backup.ts';
import { connect, type Db } from '../../db/connect.ts';
import { dumpSchema } from '../../db/dump-schema.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { fail, PEPPER, useOperator, weirIn } from './cli-harness.ts';

describe('weir backup and weir restore', () => {
  const { cli, succeed } = useOperator();
  let folder: string;
  let file: string;
  let other: TestDatabase;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'weir-backup-'));
    file = path.join(folder, 'weir.tar.gz');
    await succeed('credits', 'grant', 'acme', '12.5');
    await succeed('key', 'create', 'acme/main', '--name', 'quotes "and\\backslashes\tand\nlines\r\u0001');
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    other = await createTestDatabase();
    await other.db.destroy();
  });
  afterEach(() => other.drop().catch(() => undefined));

  const backup = (name = file) => weirIn(cli.env, ['backup', name]);
  const restore = (name: string, ...options: string[]) =>
    weirIn({ DATABASE_URL: other.url, WEIR_API_KEY_PEPPER: PEPPER }, ['restore', name, ...options]);
  async function withOther<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const db = connect(other.url, 1);
    return work(db).finally(() => db.destroy());
  }
  /** Does `work` while a session is open, which a pool would close when it rests. */
  const whileConnected = (work: (connection: Db) => Promise<void>) =>
    withOther((db) =>
      db.connection().execute(async (connection) => {
        await sql`select 1`.execute(connection);
        await work(connection);
      }),
    );
  /** All rows of all tables, as text. */
  async function rowsOf(db: Db): Promise<{ [table: string]: string[] }> {
    const { rows: tables } = await sql<{ name: string }>`
      select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and relpersistence = 'p' and relname not like 'kysely%' and not relispartition order by relname`.execute(
      db,
    );
    const all: { [table: string]: string[] } = {};
    for (const { name } of tables) {
      const { rows } = await sql<{
        row: string;
      }>`select t::text as row from ${sql.table(name)} t order by 1`.execute(db);
      all[name] = rows.map(({ row }) => row);
    }
    return all;
  }

  it('ask for patience while partitions are being made', async () => {
    await sql`create table block_run_20990101_20990108 (id int)`.execute(cli.database.db);
    try {
      const { code, stderr } = await backup(path.join(folder, 'too-early.tar.gz'));
      assert.deepEqual(
        [code, /making partitions .* repeat the backup in a minute/.test(stderr)],
        [1, true],
        stderr,
      );
    } finally {
      await sql`drop table block_run_20990101_20990108`.execute(cli.database.db);
    }
  });

  it('copy every row and the whole schema, and numbers go on where they were', async () => {
    const { code, stderr, stdout } = await backup();
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^Wrote \d+ rows, as they were at .* Keep beside it: WEIR_SECRETS_KEYS and WEIR_API_KEY_PEPPER\.\n$/,
    );
    const done = await restore(file);
    assert.equal(done.code, 0, done.stderr);
    const before = await rowsOf(cli.database.db);
    assert.ok((before.audit_entry?.length ?? 0) > 0);
    await withOther(async (db) => {
      assert.deepEqual(await rowsOf(db), before);
      assert.equal(await dumpSchema(db), await dumpSchema(cli.database.db));
    });
    const grant = await weirIn({ DATABASE_URL: other.url }, ['operator', 'credits', 'grant', 'acme', '1']);
    assert.match(grant.stdout, /its balance is 13\.5\./);
  });

  it('write a file that only its owner can read, and that any tar opens', async () => {
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const archive = gunzipSync(await readFile(file)).toString('latin1');
    assert.match(archive, /^manifest\.json\0/);
    assert.match(archive, /organization\/000001\.copy\0/);
  });

  it('overwrite no file', async () => {
    assert.match(
      await fail(1, backup()),
      /weir.* exists already\. Name another file, or delete that one first\./,
    );
  });

  it('say in words that a file or its folder is not there, or is a folder', async () => {
    const gone = path.join(folder, 'gone');
    assert.equal(await fail(1, restore(gone)), `${gone} cannot be read: the file does not exist.\n`);
    assert.equal(await fail(1, restore(folder)), `${folder} cannot be read: it is a folder.\n`);
    const within = path.join(gone, 'weir.tar.gz');
    assert.equal(await fail(1, backup(within)), `${within} cannot be written: its folder does not exist.\n`);
  });

  it('give the file its name only once it is whole', async () => {
    const whole = path.join(folder, 'whole.tar.gz');
    const seen = new Set<boolean>();
    await writeBackup(cli.database.url, whole, () => seen.add(existsSync(whole)));
    assert.deepEqual([[...seen], existsSync(whole), existsSync(`${whole}.partial`)], [[false], true, false]);
  });

  it('leave alone what another backup writes, or has left when it was cut off', async () => {
    const taken = path.join(folder, 'taken.tar.gz');
    await writeFile(`${taken}.partial`, 'of another');
    assert.match(await fail(1, backup(taken)), /taken\.tar\.gz is being written by another backup, or/);
    assert.equal(await readFile(`${taken}.partial`, 'utf8'), 'of another');
  });

  it('leave no file behind when the database is away', async () => {
    const none = path.join(folder, 'none.tar.gz');
    await fail(1, weirIn({ DATABASE_URL: 'postgres://127.0.0.1:1/none' }, ['backup', none]));
    await assert.rejects(stat(none), { code: 'ENOENT' });
    await assert.rejects(stat(`${none}.partial`), { code: 'ENOENT' });
  });

  describe('refuse, with nothing changed,', () => {
    async function refused(name: string, problem: RegExp, ...options: string[]): Promise<void> {
      const before = await withOther(rowsOf);
      assert.match(await fail(1, restore(name, ...options)), problem);
      assert.deepEqual(await withOther(rowsOf), before);
    }
    async function variant(name: string, change: (bytes: Buffer) => Buffer): Promise<string> {
      const changed = path.join(folder, name);
      await writeFile(changed, change(await readFile(file)));
      return changed;
    }

    it('a file that was cut off', async () => {
      await refused(await variant('cut', (bytes) => bytes.subarray(0, -20)), /cut off/);
    });
    it('a file that was cut off before it was compressed', async () => {
      const cut = (bytes: Buffer) => gzipSync(gunzipSync(bytes).subarray(0, -3_000));
      await refused(await variant('cut-inside', cut), /cut off/);
    });
    it('a damaged file', async () => {
      const damaged = await variant('damaged', (bytes) => {
        bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
        return bytes;
      });
      await refused(damaged, /damaged/);
    });
    it('a file that is not a backup, compressed or not', async () => {
      await refused(path.resolve('package.json'), /not a backup/);
      await refused(await variant('gzip', () => gzipSync('not an archive'.repeat(100))), /not an archive/);
    });
    it('a backup of a newer version', async () => {
      const rename = (bytes: Buffer) => {
        const archive = gunzipSync(bytes);
        // As long as before, so that the archive stays one.
        archive.write('"9999', archive.indexOf('"0001_'));
        return gzipSync(archive);
      };
      await refused(
        await variant('newer', rename),
        /does not know migration 9999_initial: a newer one made it/,
      );
    });
    it('a database that has rows, unless --replace deletes them', async () => {
      await weirIn({ DATABASE_URL: other.url }, ['operator', 'org', 'create', 'globex']);
      await refused(file, /database is not empty.*--replace/s);
      assert.equal((await restore(file, '--replace')).code, 0);
      assert.deepEqual(await withOther(rowsOf), await rowsOf(cli.database.db));
    });
    it('a file that cannot be read to its end a second time', async () => {
      const before = await withOther(rowsOf);
      const unread = new Error('The disk is gone.');
      const read = () => {
        throw unread;
      };
      await assert.rejects(restoreBackup(other.url, file, { progress: read }), unread);
      assert.deepEqual(await withOther(rowsOf), before);
    });
    it('a database that others are connected to', async () => {
      await whileConnected(async () => {
        assert.match(await fail(1, restore(file)), /1 other connections.*Stop all processes/s);
      });
    });
    it('a database that others are connected to, whose sessions its user may not look into', async () => {
      const role = `weir_restorer_${path.basename(new URL(other.url).pathname)}`;
      const asRole = Object.assign(new URL(other.url), { username: role, password: 'p' });
      await whileConnected(async (connection) => {
        await sql`create role ${sql.id(role)} login password 'p'`.execute(connection);
        try {
          const restored = weirIn({ DATABASE_URL: asRole.href }, ['restore', file]);
          assert.match(await fail(1, restored), /1 other connections/);
        } finally {
          await sql`drop role ${sql.id(role)}`.execute(connection);
        }
      });
    });
  });
});

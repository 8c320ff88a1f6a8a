// The drill of `weir backup` and `weir restore` with the PostgreSQL of Debian: docs/operating/backups.md.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { addCredits } from '../../api/organizations/recorded-organizations.ts';
import { programEnvironment, startProgram } from '../../db/backup/postgres-programs.ts';
import { restoreBackup } from '../../db/backup/restore-backup.ts';
import { writeBackup } from '../../db/backup/write-backup.ts';
import { connect, type Db } from '../../db/connect.ts';
import { dumpSchema } from '../../db/dump-schema.ts';
import { insertApiKey } from '../../db/tenants/api-keys.ts';
import { insertOrganization } from '../../db/tenants/organizations.ts';
import { insertProject } from '../../db/tenants/projects.ts';
import { createAuthority } from '../certificates.ts';
import { describeWithPostgres, startDebianPostgres } from '../db/debian-postgres.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { PEPPER } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { itWith } from '../where-available.ts';
import { fail, ROOT, weirIn } from './cli-harness.ts';

describeWithPostgres('weir backup and weir restore', () => {
  let postgres: Awaited<ReturnType<typeof startDebianPostgres>>;
  let folder: string;
  let file: string;
  let source: TestDatabase;
  let other: TestDatabase;
  let organizationId: string;
  before(async () => {
    postgres = await startDebianPostgres();
    folder = await mkdtemp(path.join(tmpdir(), 'weir-backup-'));
    file = path.join(folder, 'weir.dump');
    source = await createTestDatabase(postgres.url);
    const name = 'quotes "and\\backslashes\tand\nlines\r\u0001';
    ({ id: organizationId } = await insertOrganization(source.db, { slug: 'acme', name: 'Acme' }));
    const project = await insertProject(source.db, { organizationId, slug: 'main', name: 'Main' });
    await grant(source.db, 12_500_000);
    const key = { keyId: 'AAAAAAAA', environment: 'live', name, secretHmac: Buffer.alloc(32) } as const;
    await insertApiKey(source.db, { projectId: project.id, ...key });
  });
  after(async () => {
    await source.drop();
    await postgres.stop();
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    other = await createTestDatabase(postgres.url);
    await other.db.destroy();
  });
  afterEach(() => other.drop().catch(() => undefined));

  const weir = (url: string, ...args: string[]) =>
    weirIn({ DATABASE_URL: url, WEIR_API_KEY_PEPPER: PEPPER, PATH: process.env.PATH ?? '' }, args);
  /** Grants credits to acme, which the audit log records. */
  const grant = (db: Db, microcredits: number) =>
    db.transaction().execute((tx) => {
      const author = { actor: 'operator/AAAAAAAA', requestId: 'test' };
      return addCredits(tx, author, { organizationId, microcredits, key: String(microcredits) });
    });
  const backup = (name = file) => weir(source.url, 'backup', name);
  const restore = (name: string, ...options: string[]) => weir(other.url, 'restore', name, ...options);
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
      select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and relpersistence = 'p' order by relname`.execute(db);
    const all: { [table: string]: string[] } = {};
    for (const { name } of tables) {
      const { rows } = await sql<{
        row: string;
      }>`select t::text as row from ${sql.table(name)} t order by 1`.execute(db);
      all[name] = rows.map(({ row }) => row);
    }
    return all;
  }

  it('copy every row and the whole schema, and numbers go on where they were', async () => {
    const { code, stderr, stdout } = await backup();
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^Wrote what was committed by .* Keep beside it: WEIR_SECRETS_KEYS and WEIR_API_KEY_PEPPER\.\n$/,
    );
    const done = await restore(file);
    assert.equal(done.code, 0, done.stderr);
    const before = await rowsOf(source.db);
    assert.ok((before.audit_entry?.length ?? 0) > 0);
    await withOther(async (db) => {
      assert.deepEqual(await rowsOf(db), before);
      assert.equal(await dumpSchema(db), await dumpSchema(source.db));
    });
    const { balanceMicrocredits } = await withOther((db) => grant(db, 1_000_000));
    assert.equal(balanceMicrocredits, 13_500_000);
  });

  it('write a file that only its owner can read, and that pg_restore reads', async () => {
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await readFile(file, 'latin1')).slice(0, 5), 'PGDMP');
    assert.equal(existsSync(`${file}.partial`), false);
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
    const within = path.join(gone, 'weir.dump');
    assert.equal(await fail(1, backup(within)), `${within} cannot be written: its folder does not exist.\n`);
  });

  it('leave alone what another backup writes, or has left when it was cut off', async () => {
    const taken = path.join(folder, 'taken.dump');
    await writeFile(`${taken}.partial`, 'of another');
    assert.match(await fail(1, backup(taken)), /taken\.dump is being written by another backup, or/);
    assert.equal(await readFile(`${taken}.partial`, 'utf8'), 'of another');
  });

  it('leave no file behind when the database is away, or pg_dump fails', async () => {
    const none = path.join(folder, 'none.dump');
    await fail(1, weir('postgres://127.0.0.1:1/none', 'backup', none));
    const role = `weir_reader_${path.basename(new URL(source.url).pathname)}`;
    await sql`create role ${sql.id(role)} login password 'p'`.execute(source.db);
    await sql`grant select on kysely_migration to ${sql.id(role)}`.execute(source.db);
    try {
      const asRole = Object.assign(new URL(source.url), { username: role, password: 'p' });
      assert.match(await fail(1, weir(asRole.href, 'backup', none)), /permission denied/);
    } finally {
      await sql`drop owned by ${sql.id(role)}`.execute(source.db);
      await sql`drop role ${sql.id(role)}`.execute(source.db);
    }
    for (const name of [none, `${none}.partial`]) await assert.rejects(stat(name), { code: 'ENOENT' });
  });

  it('read the address and the password from files', async () => {
    const url = new URL(source.url);
    const env = {
      DATABASE_URL_FILE: path.join(folder, 'url'),
      PGPASSWORD_FILE: path.join(folder, 'password'),
    };
    await writeFile(env.PGPASSWORD_FILE, `${decodeURIComponent(url.password)}\n`);
    url.password = '';
    await writeFile(env.DATABASE_URL_FILE, `${url}\n`);
    const PATH = process.env.PATH ?? '';
    const { code, stderr } = await weirIn({ ...env, PATH }, ['backup', path.join(folder, 'files.dump')]);
    assert.equal(code, 0, stderr);
  });

  it('show no password on a command line', async () => {
    const shown = path.join(folder, 'shown');
    const bin = await mkdtemp(path.join(folder, 'bin-'));
    const script = `#!/bin/sh\necho "$@" >> ${shown}\nPATH=\${PATH#*:} exec pg_dump "$@"\n`;
    await writeFile(path.join(bin, 'pg_dump'), script);
    await chmod(path.join(bin, 'pg_dump'), 0o755);
    const env = { DATABASE_URL: source.url, PATH: `${bin}:${process.env.PATH}` };
    const { code, stderr } = await weirIn(env, ['backup', path.join(folder, 'secret.dump')]);
    assert.equal(code, 0, stderr);
    const lines = await readFile(shown, 'utf8');
    assert.match(lines, /--format=custom/);
    assert.doesNotMatch(lines, /password|postgres:/);
  });

  it('say of a database that a newer release has migrated that this release cannot restore it', async () => {
    const newer = path.join(folder, 'newer.dump');
    await sql`insert into kysely_migration (name, timestamp) values ('9999-newer', now()::text)`.execute(
      source.db,
    );
    try {
      const { code, stderr } = await backup(newer);
      assert.equal(code, 0, stderr);
      assert.match(
        stderr,
        /A newer release has applied 9999-newer: this release cannot restore .*newer\.dump/,
      );
    } finally {
      await sql`delete from kysely_migration where name = '9999-newer'`.execute(source.db);
    }
    await refused(
      newer,
      /this release does not know migration 9999-newer: a newer one made it\. Nothing was changed/,
    );
  });

  async function refused(name: string, problem: RegExp, ...options: string[]): Promise<void> {
    const before = await withOther(rowsOf);
    assert.match(await fail(1, restore(name, ...options)), problem);
    assert.deepEqual(await withOther(rowsOf), before);
  }

  describe('refuse, with nothing changed,', () => {
    async function variant(name: string, change: (bytes: Buffer) => Buffer): Promise<string> {
      const changed = path.join(folder, name);
      await writeFile(changed, change(await readFile(file)));
      return changed;
    }
    /** Makes the database one whose rows would be missed. */
    async function fill(): Promise<void> {
      await withOther((db) => insertOrganization(db, { slug: 'globex', name: 'Globex' }));
    }

    it('a file that was cut off, wherever', async () => {
      await fill();
      const { length } = await readFile(file);
      for (const end of [20, length - 20, length >> 1, length - (length >> 3), length - 3_000])
        await refused(
          await variant('cut', (bytes) => bytes.subarray(0, end)),
          /cannot be restored: /,
          '--replace',
        );
    });
    it('a damaged file', async () => {
      await fill();
      const damaged = await variant('damaged', (bytes) => {
        // Among the rows. A single bit may be one that says nothing.
        bytes.fill(0xff, bytes.length - 2_000, bytes.length - 1_800);
        return bytes;
      });
      await refused(damaged, /cannot be restored: /, '--replace');
    });
    it('a file whose restore is killed midway', async () => {
      await fill();
      const before = await withOther(rowsOf);
      const bin = await mkdtemp(path.join(folder, 'bin-'));
      const pid = path.join(folder, 'pid');
      const half = `#!/bin/sh\nPATH=\${PATH#*:}\ncase "$*" in *--version*|*--data-only*) exec pg_restore "$@";; esac
        pg_restore "$@" | head -c 100000; echo $$ > ${pid}; exec sleep 600\n`;
      await writeFile(path.join(bin, 'pg_restore'), half, { mode: 0o755 });
      const env = { ...process.env, DATABASE_URL: other.url, PATH: `${bin}:${process.env.PATH}` };
      const restoring = spawn(
        process.execPath,
        [path.join(ROOT, 'cli/weir.js'), 'restore', file, '--replace'],
        { env },
      );
      const sleeping = Number(await waitUntil(() => readFile(pid, 'utf8').catch(() => '')));
      restoring.kill('SIGKILL');
      process.kill(sleeping);
      await withOther((db) =>
        waitUntil(async () => {
          const { rows } = await sql`select from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
          return rows.length === 0;
        }),
      );
      assert.deepEqual(await withOther(rowsOf), before);
    });
    it('a file that is not a backup', async () => {
      await refused(path.resolve('package.json'), /cannot be restored: .*archive/);
    });
    it('a database that has rows, unless --replace deletes them', async () => {
      await fill();
      await refused(file, /database is not empty.*--replace/s);
      assert.equal((await restore(file, '--replace')).code, 0);
      assert.deepEqual(await withOther(rowsOf), await rowsOf(source.db));
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
          assert.match(await fail(1, weir(asRole.href, 'restore', file)), /1 other connections/);
        } finally {
          await sql`drop role ${sql.id(role)}`.execute(connection);
        }
      });
    });
  });
});

describeWithPostgres('weir backup and weir restore over TLS', () => {
  itWith(['openssl'], 'verify the certificate of the server as the service does', async () => {
    const [authority, another] = [createAuthority(), createAuthority()];
    const postgres = await startDebianPostgres(authority.issue(['IP:127.0.0.1']));
    const folder = await mkdtemp(path.join(tmpdir(), 'weir-backup-'));
    const database = await createTestDatabase(postgres.url);
    try {
      const [ca, file] = [path.join(folder, 'ca.crt'), path.join(folder, 'weir.dump')];
      await writeFile(ca, authority.pem);
      const url = `${database.url}?sslmode=verify-full&sslrootcert=${ca}`;
      await writeBackup(url, file);
      await database.db.destroy();
      await restoreBackup(url, file);
      await writeFile(ca, another.pem);
      const dump = startProgram('pg_dump', ['--schema-only'], programEnvironment(url));
      dump.stdout.resume();
      await assert.rejects(dump.done, /certificate verify failed/);
    } finally {
      await database.drop();
      await postgres.stop();
      await rm(folder, { recursive: true });
    }
  });
});

describe('weir backup, of pg_dump,', () => {
  let folder: string;
  let database: TestDatabase;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'weir-backup-'));
    database = await createTestDatabase();
  });
  after(async () => {
    await database.drop();
    await rm(folder, { recursive: true });
  });

  /** Backs up and restores where the programs of PostgreSQL say this, or are missing. */
  async function problemsWith(version?: string): Promise<string[]> {
    const bin = await mkdtemp(path.join(folder, 'bin-'));
    const script = `#!/bin/sh\necho 'program (PostgreSQL) ${version}'\n`;
    if (version)
      for (const name of ['pg_dump', 'pg_restore', 'psql'])
        await writeFile(path.join(bin, name), script, { mode: 0o755 });
    const file = path.join(folder, 'weir.dump');
    const env = { DATABASE_URL: database.url, PATH: bin };
    const backup = await fail(1, weirIn(env, ['backup', file]));
    assert.deepEqual([existsSync(file), existsSync(`${file}.partial`)], [false, false]);
    return [backup, await fail(1, weirIn(env, ['restore', 'package.json', '--replace']))];
  }
  const INSTALL = /Install the client of PostgreSQL \d+ or newer: postgresql-client-\d+ on Debian and Ubuntu/;

  it('says what to install where it is missing', async () => {
    const [backup = '', restore = ''] = await problemsWith();
    assert.match(backup, /^pg_dump cannot be run\. /);
    assert.match(restore, /^pg_restore cannot be run\. /);
    for (const problem of [backup, restore]) assert.match(problem, INSTALL);
  });

  it('says what to install where it is older than the server', async () => {
    const [backup = '', restore = ''] = await problemsWith('9.6.24');
    assert.match(backup, /^pg_dump is of PostgreSQL 9, older than the server of PostgreSQL \d+\. /);
    assert.match(restore, /^pg_restore is of PostgreSQL 9, older than the server of PostgreSQL \d+\. /);
    for (const problem of [backup, restore]) assert.match(problem, INSTALL);
  });
});

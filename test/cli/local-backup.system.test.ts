// `weir backup` and `weir restore` with the state of an `npm start` that has stopped.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../dev/postgres/postgres.ts';
import { takeStartLock } from '../../dev/processes/process-lock.ts';
import { type LocalEnvironment, provideSecrets, writeState } from '../../dev/state-folder.ts';
import { fail, spawnWeir } from './cli-harness.ts';

describe('weir backup and weir restore where npm start has run', () => {
  let root: string;
  let folder: string;
  let copy: string;
  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'weir-local-backup-'));
    folder = await stateFolder('old');
    leave();
    copy = path.join(root, 'copy');
    await query(folder, 'create table kept as select 1 as number');
  });
  after(() => rm(root, { recursive: true }));

  /** Makes a state folder, and remembers the folder of its cluster for its end. */
  async function stateFolder(name: string): Promise<string> {
    return mkdtemp(path.join(root, `${name}-`));
  }
  const weirIn = (folder: string, ...args: string[]) =>
    spawnWeir({ PATH: process.env.PATH ?? '', WEIR_STATE_DIR: folder }, args);
  /** Leaves what a start leaves that has stopped. */
  function leave(more: Partial<LocalEnvironment> = {}): void {
    const state: LocalEnvironment = {
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      WEIR_API_KEY_PEPPER: 'pepper',
      WEIR_SECRETS_KEYS: provideSecrets(folder).secretsKeys,
      WEIR_URL: 'http://127.0.0.1:1',
      WEIR_API_KEY: 'weir_test_1_a-secret',
      temporal: { TEMPORAL_ADDRESS: '127.0.0.1:7233' },
      ...more,
    };
    writeState(folder, 'env.json', state);
  }
  /** Starts the database of a state folder, as npm start does, for one query. */
  async function query(folder: string, text: string) {
    const { postgresPassword: password } = provideSecrets(folder);
    const postgres = await startPostgres({ stateFolder: folder, password, database: 'weir' });
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
      await postgres.stop();
    }
  }

  it('are refused while it runs, and say that it is to be stopped', async () => {
    const lock = takeStartLock(folder);
    try {
      const refusal =
        /^npm start is running in .*Stop it \(Ctrl-C\), repeat the command, and start it again\.$/m;
      assert.match(await fail(1, weirIn(folder, 'backup', copy)), refusal);
      assert.equal(existsSync(copy), false);
    } finally {
      lock.release();
    }
  });

  it('are refused without the DATABASE_URL that the start was given', async () => {
    leave({ given: ['DATABASE_URL'] });
    const refusal = /^npm start was given a DATABASE_URL, which is not set here\. Set the same here/;
    assert.match(await fail(1, weirIn(folder, 'backup', copy)), refusal);
    assert.match(await fail(1, weirIn(folder, 'restore', copy)), refusal);
    leave();
  });

  it('carry the database, its secrets and its accounts to another state folder', async () => {
    writeState(folder, 'identity-accounts.json', ['me']);
    const { code, stdout, stderr } = await weirIn(folder, 'backup', copy);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Copied the database and the secrets of npm start to .*copy\. /);
    assert.equal((await stat(copy)).mode & 0o777, 0o700);
    assert.equal(existsSync(path.join(copy, 'start.json')), false);
    const other = await stateFolder('new');
    await writeFile(path.join(other, 'temporal.db'), 'of another database');
    const restored = await weirIn(other, 'restore', copy);
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stdout, /npm start continues from there, with an empty Temporal\.\n$/);
    assert.equal(existsSync(path.join(other, 'temporal.db')), false);
    for (const name of ['secrets.json', 'identity-accounts.json'])
      assert.equal(
        readFileSync(path.join(other, name), 'utf8'),
        readFileSync(path.join(folder, name), 'utf8'),
      );
    assert.deepEqual(await query(other, 'select number from kept'), [{ number: 1 }]);
  });

  it('overwrite no copy, and no database unless --replace is given', async () => {
    assert.match(await fail(1, weirIn(folder, 'backup', copy)), /copy exists already\. Name another folder/);
    await query(folder, 'drop table kept');
    assert.match(
      await fail(1, weirIn(folder, 'restore', copy)),
      /npm start has a database already, in .*--replace/,
    );
    const { code, stderr } = await weirIn(folder, 'restore', copy, '--replace');
    assert.equal(code, 0, stderr);
    assert.deepEqual(await query(folder, 'select number from kept'), [{ number: 1 }]);
  });

  it('say which Temporal the next start needs, where it was given one', async () => {
    leave({ given: ['TEMPORAL_ADDRESS'], temporal: {} });
    const { stdout } = await weirIn(folder, 'restore', copy, '--replace');
    assert.match(stdout, /continues from there; give it a Temporal namespace without its workflows\.\n$/);
  });

  it('say of what is no copy that it is none', async () => {
    assert.match(
      await fail(1, weirIn(folder, 'restore', root)),
      /is not a folder of weir backup\. .*DATABASE_URL/,
    );
  });

  it('say where nothing has run what to set', async () => {
    const empty = await stateFolder('empty');
    assert.match(
      await fail(1, weirIn(empty, 'backup', path.join(root, 'none'))),
      /has no state of npm start\. Set/,
    );
  });
});

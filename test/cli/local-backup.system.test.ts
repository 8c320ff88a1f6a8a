// `weir backup` and `weir restore` with the database of an `npm start` that has stopped.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeBackup } from '../../db/backup/write-backup.ts';
import { rotateSigningSecret } from '../../db/webhooks/webhook-secrets.ts';
import { type LocalEnvironment, provideSecrets, writeState } from '../../dev/state-folder.ts';
import { encryptionKeys } from '../../platform/config/values.ts';
import { createEncryption } from '../../platform/secrets/encrypt.ts';
import { SECRETS_KEYS } from '../harness.ts';
import { fail, spawnWeir, useOperator } from './cli-harness.ts';

/** Tells of keys that do not fit. A slow machine tells of its progress, too. */
const MISFIT = /WEIR_SECRETS_KEYS|secrets\.json/;

describe('weir backup and weir restore where npm start has run', () => {
  const { cli, succeedJson } = useOperator();
  let folder: string;
  let file: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'weir-state-'));
    file = path.join(cli.folder, 'weir.tar.gz');
    const { id } = await succeedJson('org', 'create', 'sealed');
    const encryption = createEncryption(encryptionKeys.parse(SECRETS_KEYS));
    await rotateSigningSecret(cli.database.db, encryption, id, 'whsec_one', { grace: true });
    await writeBackup(cli.database.url, file);
  });
  after(() => rm(folder, { recursive: true }));

  const weir = (...args: string[]) =>
    spawnWeir({ PATH: process.env.PATH ?? '', WEIR_STATE_DIR: folder }, args);
  /** Leaves what a start leaves that has stopped. */
  function leave(more: Partial<LocalEnvironment>): void {
    const state: LocalEnvironment = {
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      WEIR_API_KEY_PEPPER: 'pepper',
      WEIR_SECRETS_KEYS: SECRETS_KEYS,
      WEIR_URL: 'http://127.0.0.1:1',
      WEIR_API_KEY: 'weir_test_1_a-secret',
      ...more,
    };
    writeState(folder, 'env.json', state);
  }

  it('are refused without the DATABASE_URL that the start was given, and make no other database', async () => {
    provideSecrets(folder);
    leave({ given: ['DATABASE_URL'] });
    const refusal = /^npm start was given a DATABASE_URL, which is not set here\. Set the same here/;
    assert.match(await fail(1, weir('backup', path.join(folder, 'other.tar.gz'))), refusal);
    assert.match(await fail(1, weir('restore', file)), refusal);
    assert.equal(existsSync(path.join(folder, 'postgres')), false);
  });

  it('say when the secrets of the state folder are not those of the backup', async () => {
    provideSecrets(folder);
    leave({ given: [], temporal: { TEMPORAL_ADDRESS: '127.0.0.1:7233' } });
    const { code, stderr, stdout } = await weir('restore', file);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /encrypted under the key test, which is not in WEIR_SECRETS_KEYS\. If .*secrets\.json is not that/,
    );
    assert.match(stderr, /move .*postgres away, copy the \.json files, but not start\.json/);
    assert.match(stdout, /npm start cannot read its secrets yet\.\n$/);
  });

  it('say, with the secrets of the backup, that the next start goes on, and which Temporal it needs', async () => {
    const secrets = provideSecrets(folder);
    writeState(folder, 'secrets.json', { ...secrets, secretsKeys: SECRETS_KEYS });
    const own = await weir('restore', file, '--replace');
    assert.doesNotMatch(own.stderr, MISFIT);
    assert.match(own.stdout, /npm start continues from there, with an empty Temporal\.\n$/);
    writeState(folder, 'secrets.json', secrets);
    leave({ given: ['TEMPORAL_ADDRESS', 'WEIR_SECRETS_KEYS'], temporal: {} });
    const given = await weir('restore', file, '--replace');
    assert.doesNotMatch(given.stderr, MISFIT);
    assert.match(
      given.stdout,
      /continues from there; give it a Temporal namespace without its workflows\.\n$/,
    );
  });

  it('say that secrets.json is of another cluster, and what to move away, not to delete', async () => {
    writeState(folder, 'secrets.json', { ...provideSecrets(folder), postgresPassword: 'another' });
    const stderr = await fail(1, weir('restore', file, '--replace'));
    assert.match(stderr, /secrets\.json .* is not that of its PostgreSQL cluster.* move the cluster away/);
    assert.match(stderr, /Delete neither/);
  });
});

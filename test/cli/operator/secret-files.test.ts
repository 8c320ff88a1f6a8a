import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { PEPPER } from '../../harness.ts';
import { fail, ROOT, useDatabase, weirIn } from '../cli-harness.ts';

describe('secrets from files', () => {
  const { cli } = useDatabase();

  /** Writes the secrets of the test database to files, the password apart; returns the variables that name them. */
  function secretFiles() {
    const url = new URL(cli.database.url);
    const password = decodeURIComponent(url.password);
    url.password = '';
    const secrets = { DATABASE_URL: url.href, PGPASSWORD: password, WEIR_API_KEY_PEPPER: PEPPER };
    return Object.fromEntries(
      Object.entries(secrets)
        .filter(([, secret]) => secret !== '')
        .map(([name, secret]) => {
          writeFileSync(path.join(cli.folder, name), `${secret}\n`);
          return [`${name}_FILE`, path.join(cli.folder, name)];
        }),
    );
  }

  it('are enough for the first key of an operator', async () => {
    const env = { ...secretFiles(), WEIR_STATE_DIR: cli.folder };
    const made = await weirIn(env, ['operator', 'create', '--name', 'k', '--json']);
    assert.match(made.stdout, /weir_operator_/, made.stderr);
  });

  it('are named in one sentence when they cannot be read', async () => {
    const stderr = await fail(
      1,
      weirIn({ DATABASE_URL_FILE: '/nowhere/url' }, ['operator', 'create', '--name', 'k']),
    );
    assert.match(stderr, /^DATABASE_URL_FILE names \/nowhere\/url, which does not exist\.$/m);
  });

  it('are enough for the migration', () => {
    const { stdout, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'db/run-migrations.ts')], {
      encoding: 'utf8',
      env: secretFiles(),
    });
    assert.match(stdout + stderr, /The database is up to date\./);
  });
});

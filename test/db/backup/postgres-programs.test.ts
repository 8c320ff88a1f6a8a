import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { programEnvironment } from '../../../db/backup/postgres-programs.ts';

describe('the environment of pg_dump, pg_restore and psql', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-backup-'));
  const ca = path.join(folder, 'ca.crt');
  before(() => writeFileSync(ca, 'a certificate'));
  after(() => rmSync(folder, { recursive: true }));

  it('has the parts of the address, decoded, and the options', () => {
    const env = programEnvironment(
      'postgres://we%40ir:p%2Fw@db.example:6432/one?options=-c%20work_mem%3D1MB',
    );
    assert.deepEqual(
      [env.PGHOST, env.PGPORT, env.PGUSER, env.PGPASSWORD, env.PGDATABASE, env.PGOPTIONS],
      ['db.example', '6432', 'we@ir', 'p/w', 'one', '-c work_mem=1MB'],
    );
  });

  it('has the password that stands among the parameters, and the folder of a socket', () => {
    const env = programEnvironment('postgres:///one?host=/run/postgresql&user=weir&password=p');
    assert.deepEqual([env.PGHOST, env.PGUSER, env.PGPASSWORD], ['/run/postgresql', 'weir', 'p']);
  });

  for (const [parameters, mode, authority] of [
    ['sslmode=verify-full', 'verify-full', 'system'],
    ['sslmode=require', 'verify-full', 'system'],
    [`sslmode=verify-full&sslrootcert=${ca}`, 'verify-full', ca],
    ['sslmode=no-verify', 'require', undefined],
    ['sslmode=disable', 'disable', undefined],
  ] as const)
    it(`verifies certificates as the service does: ${parameters.replace(folder, '')}`, () => {
      const env = programEnvironment(`postgres://weir@db.example/weir?${parameters}`);
      assert.deepEqual([env.PGSSLMODE, env.PGSSLROOTCERT], [mode, authority]);
    });
});

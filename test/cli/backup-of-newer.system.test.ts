import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { useOperator, weirIn } from './cli-harness.ts';

describe('weir backup of a database that a newer release has migrated', () => {
  const { cli } = useOperator();
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'weir-backup-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('says that this release cannot restore it', async () => {
    const file = path.join(folder, 'newer.tar.gz');
    const { db } = cli.database;
    await sql`insert into kysely_migration (name, timestamp) values ('9999-newer', now()::text)`.execute(db);
    const { code, stderr } = await weirIn(cli.env, ['backup', file]);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /A newer release has applied 9999-newer: this release cannot restore .*newer\.tar\.gz/,
    );
  });
});

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { dumpSchema, SCHEMA_FILE } from '../../db/dump-schema.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

describe('db/schema.sql', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('is what the migrations make', async () => {
    assert.equal(
      firstDifference(await readFile(SCHEMA_FILE, 'utf8'), await dumpSchema(database.db)),
      undefined,
    );
  });

  it('is SQL that makes the same schema again', async () => {
    const second = await createTestDatabase();
    try {
      await sql`drop schema public cascade`.execute(second.db);
      await sql`create schema public`.execute(second.db);
      await sql.raw(await dumpSchema(database.db)).execute(second.db);
      assert.equal(await dumpSchema(second.db), await dumpSchema(database.db));
    } finally {
      await second.drop();
    }
  });

  it('is stale after any change, and the first line that differs is named', async () => {
    const before = await dumpSchema(database.db);
    await sql`alter table flow add column colour text not null default 'grey'`.execute(database.db);
    const difference = firstDifference(before, await dumpSchema(database.db));
    assert.match(
      difference ?? '',
      /^line \d+:\n- .*\n(?:.*\n)*\+ +colour text not null default 'grey'::text,/,
    );
  });
});

/** Finds the first difference of two texts, as `-` (stored) and `+` (current) lines; undefined when they are equal. */
function firstDifference(stored: string, current: string): string | undefined {
  if (stored === current) return undefined;
  const old = stored.split('\n');
  const now = current.split('\n');
  const from = now.findIndex((line, index) => line !== old[index]);
  const at = from === -1 ? now.length : from;
  const excerpt = (lines: string[], sign: string) => lines.slice(at, at + 5).map((line) => `${sign} ${line}`);
  return [`line ${at + 1}:`, ...excerpt(old, '-'), ...excerpt(now, '+')].join('\n');
}

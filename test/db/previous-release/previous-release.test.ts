import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { ENDED } from './ended-statements.ts';
import { readStatements } from './read-statements.ts';

const { newestMigration, statements } = readStatements();
const later = readdirSync(path.join(import.meta.dirname, '../../../db/migrations')).filter(
  (file) => file.slice(0, 4) > newestMigration,
);

describe('the statements of the release before', () => {
  let database: TestDatabase;
  let client: pg.Client;
  before(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('set plan_cache_mode = force_generic_plan');
  });
  after(async () => {
    await client.end();
    await database.drop();
  });

  it('can be carried out on the newest schema, unless they are known to have ended', async () => {
    assert.deepEqual(await findRefused(statements.filter((text) => !isEnded(text))), []);
  });

  it('that are listed as ended are refused', async () => {
    const ended = statements.filter(isEnded);
    assert.equal((await findRefused(ended)).length, ended.length);
    for (const { statement } of ENDED)
      assert.ok(
        ended.some((text) => text.startsWith(statement)),
        statement,
      );
  });

  it('give all the columns that a row must have', async () => {
    const { rows } = await sql<{ table: string; column: string }>`
      select table_name as table, column_name as column from information_schema.columns
      where table_schema = 'public' and is_nullable = 'NO' and column_default is null and is_identity = 'NO'`.execute(
      database.db,
    );
    const inserts = statements.filter((text) => !isEnded(text)).flatMap(findInserts);
    assert.ok(inserts.length > 0);
    const missing = inserts.flatMap(({ table, columns }) =>
      rows
        .filter((row) => row.table === table && !columns.includes(row.column))
        .map((row) => `${table}.${row.column} must have a value, which this does not give: ${columns}`),
    );
    assert.deepEqual(missing, []);
  });

  /** PostgreSQL infers the types of parameters, and plans: `on conflict` looks for its index only then. */
  async function findRefused(texts: string[]): Promise<string[]> {
    const refused: string[] = [];
    for (const text of texts) {
      try {
        await client.query(`prepare statement as ${text}`);
        const { rows } = await client.query<{ parameters: number }>(
          `select cardinality(parameter_types) as parameters from pg_prepared_statements where name = 'statement'`,
        );
        const nulls = Array(rows[0]?.parameters ?? 0).fill('null');
        await client.query(`explain execute statement${nulls.length > 0 ? `(${nulls})` : ''}`);
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) throw error;
        refused.push(
          `${error.message}, in: ${text} (a migration among ${later} is not safe beside its release)`,
        );
      }
      await client.query('deallocate all');
    }
    return refused;
  }
});

function isEnded(text: string): boolean {
  return ENDED.some(({ statement }) => text.startsWith(statement));
}

/** Lists the tables into which a statement inserts, with the columns it names. */
function findInserts(text: string): { table: string; columns: string[] }[] {
  const inserts = text.matchAll(/\binsert into "?(\w+)"?(?: as \w+)? ?\(([^()]+)\)/g);
  return [...inserts].map(([, table = '', columns = '']) => ({
    table,
    columns: columns.split(',').map((column) => column.trim().replaceAll('"', '')),
  }));
}

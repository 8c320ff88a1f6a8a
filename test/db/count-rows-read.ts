// Counts the rows that statements read, from PostgreSQL's own account of them.
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Db } from '../../db/connect.ts';
import type { Schema } from '../../db/schema.ts';

type PlanNode = {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
};

/** Does `work` on a connection of its own; returns how many rows of tables and indexes its statements looked at in all. */
export async function countRowsRead(url: string, work: (db: Db) => Promise<unknown>): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  let count = 0;
  async function query(text: string, parameters: unknown[] = []) {
    if (/^\s*(select|insert|update|delete|with)\b/i.test(text)) {
      // Carried out twice: for its account, which is rolled back, and for its answer.
      const inTransaction = client.getTransactionStatus() === 'T';
      await client.query(inTransaction ? 'savepoint account' : 'begin');
      const { rows } = await client.query(`explain (analyze, format json) ${text}`, parameters);
      count += countRows(rows[0]['QUERY PLAN'][0].Plan);
      await client.query(inTransaction ? 'rollback to savepoint account' : 'rollback');
    }
    return client.query(text, parameters);
  }
  await client.connect();
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({
      pool: {
        options: {},
        connect: async () => ({ query: query as never, release: () => undefined }),
        end: () => client.end(),
      } as never,
    }),
  });
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
  return count;
}

function countRows(node: PlanNode): number {
  const read =
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  const isScan =
    / Scan$/.test(node['Node Type']) && !/^(Subquery|Function|CTE|WorkTable)/.test(node['Node Type']);
  const own = isScan ? read * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + countRows(child), own);
}

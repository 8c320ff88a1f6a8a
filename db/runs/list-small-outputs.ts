import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { outputBytes } from '../stored-values/stored-outputs.ts';

/** Lists the sizes of a call's recorded outputs, in bytes of JSON, and the JSON text of outputs up to `maxBytes`. */
export async function listSmallOutputs(
  db: Db,
  callId: string,
  blockKeys: string[],
  maxBytes: number,
): Promise<Map<string, { bytes: number; text: string | null }>> {
  const bytes = sql<number>`coalesce(${outputBytes}, 0)`;
  const rows = await db
    .selectFrom('block_run')
    .select('block_key')
    .select([
      bytes.as('bytes'),
      sql<string | null>`case when ${bytes} <= ${maxBytes} then output::text end`.as('text'),
    ])
    .where('execution_id', '=', callId)
    .where('block_key', '=', sql<string>`any(${blockKeys}::text[])`)
    .where('status', '=', 'completed')
    .execute();
  return new Map(rows.map(({ block_key, ...output }) => [block_key, output]));
}

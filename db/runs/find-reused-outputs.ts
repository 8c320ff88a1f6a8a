// A retry has the outputs of the blocks that earlier attempts completed in its first step, in place of running these blocks.
import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { outputBytes } from '../stored-values/stored-outputs.ts';

/** A completed block of an earlier attempt; `bytes` is the size of its output as JSON. */
export type ReusedOutput = { callId: string; bytes: number };

/**
 * Lists those of the calls that a retry needs for all completed outputs of these blocks. `callIds`: newest first, and the
 * newest output counts.
 */
export async function listReusedCalls(db: Db, callIds: string[], stepIds: string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('block_run')
    .distinctOn('block_key')
    .select('execution_id')
    .where('execution_id', '=', sql<string>`any(${callIds}::uuid[])`)
    .where('step_id', '=', sql<string>`any(${stepIds}::text[])`)
    .where('status', '=', 'completed')
    .orderBy('block_key')
    .orderBy(sql`array_position(${callIds}::uuid[], execution_id)`)
    .execute();
  const found = new Set(rows.map((row) => row.execution_id));
  return callIds.filter((callId) => found.has(callId));
}

/** Finds the newest of these calls that completed the block; undefined when none has, or its run was deleted. */
export async function findReusedOutput(
  db: Db,
  callIds: string[] = [],
  blockKey: string,
): Promise<ReusedOutput | undefined> {
  if (callIds.length === 0) return undefined;
  return db
    .selectFrom('block_run')
    .select(['execution_id as callId', sql<number>`coalesce(${outputBytes}, 0)`.as('bytes')])
    .where('execution_id', '=', sql<string>`any(${callIds}::uuid[])`)
    .where('block_key', '=', blockKey)
    .where('status', '=', 'completed')
    .orderBy(sql`array_position(${callIds}::uuid[], execution_id)`)
    .limit(1)
    .executeTakeFirst();
}

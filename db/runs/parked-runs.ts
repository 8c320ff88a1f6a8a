// Runs under which workers were lost again and again: each waits until an operator has it go on.
import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { CALL_IDS, isCallOf } from './run-columns.ts';

/** Marks a run that waits for an operator. May be repeated. */
export async function parkRun(db: Db, executionId: string): Promise<void> {
  await db
    .updateTable('run')
    .set({ parked_at: sql`coalesce(parked_at, now())` })
    .where('execution_id', '=', executionId)
    .where('status', '=', 'started')
    .execute();
}

/** Marks a run that goes on. May be repeated. */
export async function unparkRun(db: Db, executionId: string): Promise<void> {
  await db
    .updateTable('run')
    .set({ parked_at: null, resume_requested_at: null })
    .where('execution_id', '=', executionId)
    .execute();
}

/** Asks for a parked run to go on, or for all of them; answers how many there are. Workers carry it out. */
export async function requestResume(db: Db, executionId: string | 'all'): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('run')
    .set({ resume_requested_at: sql`now()` })
    .where('parked_at', 'is not', null)
    .where('status', '=', 'started')
    .$if(executionId !== 'all', (run) => run.where(isCallOf(executionId)))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Parked runs that are to go on. */
export function listResumed(db: Db, limit: number) {
  return db
    .selectFrom('run')
    .select(CALL_IDS)
    .where('parked_at', 'is not', null)
    .where('resume_requested_at', 'is not', null)
    .where('status', '=', 'started')
    .orderBy('resume_requested_at')
    .limit(limit)
    .execute();
}

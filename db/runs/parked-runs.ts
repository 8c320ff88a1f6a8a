// Parked runs: runs that lost their workers repeatedly, and wait until an operator resumes them.
import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { CALL_IDS, isCallOf } from './run-columns.ts';

/** Marks a call of a run as parked. May be repeated. */
export async function parkRun(db: Db, callId: string): Promise<void> {
  await db
    .updateTable('run')
    .set({ parked_at: sql`coalesce(parked_at, now())` })
    .where('execution_id', '=', callId)
    .where('status', '=', 'started')
    .execute();
}

/** Marks a call of a run as no longer parked, if it was. May be repeated. */
export async function unparkRun(db: Db, callId: string): Promise<void> {
  await db
    .updateTable('run')
    .set({ parked_at: null, resume_requested_at: null })
    .where('execution_id', '=', callId)
    .where('parked_at', 'is not', null)
    .execute();
}

/** Requests that a parked run, or all of them, be unparked; lists the calls of which it did. Workers carry it out. */
export function requestUnpark(db: Db, executionId: string | 'all') {
  return db
    .with('parked', (run) =>
      run
        .selectFrom('run')
        .select('execution_id')
        .where('parked_at', 'is not', null)
        .where('status', '=', 'started')
        .$if(executionId !== 'all', (query) => query.where(isCallOf(executionId)))
        .orderBy('execution_id')
        .forNoKeyUpdate(),
    )
    .updateTable('run')
    .from('parked')
    .whereRef('run.execution_id', '=', 'parked.execution_id')
    .set({ resume_requested_at: sql`now()` })
    .returning('run.organization_id as organizationId')
    .execute();
}

/** Lists calls of parked runs whose unparking was requested. */
export function listUnparkRequested(db: Db, limit: number) {
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

/** Lists those of `callIds` whose row does not say that they wait to be unparked. */
export function listNotParked(db: Db, callIds: string[]) {
  return db
    .selectFrom('run')
    .select([...CALL_IDS, 'status'])
    .where('execution_id', 'in', callIds)
    .where((run) => run.or([run('parked_at', 'is', null), run('status', '!=', 'started')]))
    .execute();
}

// db/upkeep holds what workers do now and then: finding unfinished rows, cancelling the work of deleted projects, retention.
// This file: duties, so that one process at a time does each, and ten workers do not ask ten times.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';

/** No duty rests for as long as this. */
const REST_MAX = sql`interval '15 minutes'`;

/** Takes a due duty for the next `seconds`; false when it is not due or another process has it. */
export async function takeDuty(db: Db, name: string, seconds: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('duty')
    .values({ name, due_at: fromNow(seconds) })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ due_at: fromNow(seconds) })
        // One that is due only after a longer time than any duty rests was taken before the clock was set back.
        .where(sql<boolean>`(duty.due_at <= now() or duty.due_at > now() + ${REST_MAX})`),
    )
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Makes a duty that this process has taken due again in `seconds`. */
export async function deferDuty(db: Db, name: string, seconds: number): Promise<void> {
  await db
    .updateTable('duty')
    .set({ due_at: fromNow(seconds) })
    .where('name', '=', name)
    .execute();
}

function fromNow(seconds: number): RawBuilder<Date> {
  return sql`now() + ${seconds} * interval '1 second'`;
}

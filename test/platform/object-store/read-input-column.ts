import { sql } from 'kysely';
import type { Db } from '../../../db/connect.ts';

/** Reads a call's input in the database: whether it is `elsewhere`, else its JSON. */
export function readInputColumn(db: Db, callId: string): Promise<{ elsewhere: boolean; text: string }> {
  return db
    .selectFrom('run')
    .select([sql<boolean>`input is null`.as('elsewhere'), sql<string>`input::text`.as('text')])
    .where('execution_id', '=', callId)
    .executeTakeFirstOrThrow();
}

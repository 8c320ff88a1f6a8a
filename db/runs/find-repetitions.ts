import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import type { Db, Tx } from '../connect.ts';

/** Finds which of these runs were repeated, each with one repetition. */
export async function findRepetitions(db: Db | Tx, executionIds: string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('run')
    .select(['repeats', 'execution_id'])
    .where('repeats', 'is not', null)
    .where('repeats', '=', sql<string>`any(${executionIds}::uuid[])`)
    .execute();
  return new Map(rows.map(({ repeats, execution_id }) => [repeats as string, execution_id]));
}

/** The error for repeating a run `once` that was repeated already. */
export function repeatedAlready(executionId: string): ServiceError {
  return new ServiceError('CONFLICT', `This run was run again already, as ${executionId}.`);
}

import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { type ListedRun, listRunPage, listRunsById, type RunListFilter } from './list-runs.ts';

/**
 * Replaces each of these runs that was run again since with its newest attempt, if this has failed. `filter` is what found the
 * runs: where it finds several attempts of a run, on whatever page, only the newest of them is replaced.
 */
export async function toNewestAttempts(
  db: Db,
  runs: ListedRun[],
  filter: RunListFilter,
): Promise<ListedRun[]> {
  const repeated = runs.filter((run) => run.repeated_by !== null);
  if (repeated.length === 0) return runs;
  const listed = await listRunsById(
    db,
    repeated.map((run) => run.repeated_by as string),
  );
  const newest = new Map(listed.map((run) => [run.execution_id, run]));
  const attempts = await db
    .selectFrom('run')
    .select('execution_id')
    .where('first_attempt', '=', sql<string>`any(${repeated.map(firstAttemptOf)}::uuid[])`)
    .execute();
  const among = attempts.map((run) => run.execution_id);
  const found = await listRunPage(db, { ...filter, after: undefined, among, limit: among.length });
  // Too many to look through: no run may be retried twice.
  if (found.next !== null) return runs;
  const newestFound = new Map(found.runs.toReversed().map((run) => [firstAttemptOf(run), run.execution_id]));
  return runs.map((run) => {
    const last = newest.get(run.repeated_by ?? '');
    const stands = (newestFound.get(firstAttemptOf(run)) ?? run.execution_id) === run.execution_id;
    return stands && last?.status === 'failed' ? last : run;
  });
}

function firstAttemptOf(run: ListedRun): string {
  return run.first_attempt ?? run.execution_id;
}

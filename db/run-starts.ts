// What the workflow of an accepted run is started from.
import { sql } from 'kysely';
import type { Db } from './connect.ts';
import { versionOfRun } from './run-columns.ts';

/**
 * Takes up to `limit` runs that are `started`, older than `quietSeconds` and not taken within that time, with what
 * starting their workflow needs. Processes that call this at the same time take different runs.
 */
export async function claimUnfinishedRuns(
  db: Db,
  { quietSeconds, limit }: { quietSeconds: number; limit: number },
) {
  const claimed = await db
    .updateTable('run')
    .set({ reconciled_at: sql`now()` })
    .where('execution_id', 'in', (eb) =>
      eb
        .selectFrom('run')
        .select('execution_id')
        .where('status', '=', 'started')
        .where(
          sql`coalesce(reconciled_at, started_at)`,
          '<=',
          sql`now() - ${quietSeconds} * interval '1 second'`,
        )
        .orderBy(sql`coalesce(reconciled_at, started_at)`)
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning('execution_id')
    .execute();
  return findRunStarts(
    db,
    claimed.map((row) => row.execution_id),
  );
}

/** How these runs stand, with what starting their workflow needs. */
export async function findRunStarts(db: Db, executionIds: string[]) {
  if (executionIds.length === 0) return [];
  return db
    .selectFrom('run')
    .innerJoin('flow', 'flow.id', 'run.flow_id')
    .innerJoin('project', 'project.id', 'run.project_id')
    .innerJoin('organization', 'organization.id', 'run.organization_id')
    .innerJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
    .select([
      'run.execution_id as executionId',
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
      versionOfRun().as('version'),
      'run.mode',
      'run.environment',
      'run.flow_version_id as flowVersionId',
      'flow_version.definition',
      'run.flow_id as flowId',
      'run.continues',
      'run.step_from as from',
      'run.step_to as to',
      'run.status',
      'run.result',
      'run.error',
      'run.pause',
      'run.concluded_by',
      'run.cancel_requested_at as cancelRequestedAt',
    ])
    .select(sql<boolean>`run.callback_url is not null`.as('callback'))
    .where('run.execution_id', 'in', executionIds)
    .execute();
}

// Lists of runs: of every organization for operators, and of a flow, project or organization for callers.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connect.ts';
import { costOfRun, hasParkedCall, statusOfRun, versionOfRun, withoutEarlierEnd } from './run-columns.ts';
import { type RunFilter, selectRunPage } from './select-run-page.ts';

/**
 * Lists runs, newest first, each with all its calls and the cost of their blocks in microcredits, however many there
 * are. A page for callers is `listRunPage`.
 */
export async function listRuns(db: Db, filter: RunFilter) {
  return (await selectRunsIn(db, selectRunPage(filter)).execute()).map(withoutEarlierEnd);
}
export type ListedRun = Awaited<ReturnType<typeof listRuns>>[number];

/** Lists those of these runs that exist, as `listRuns` does. */
export async function listRunsById(db: Db, executionIds: string[]): Promise<ListedRun[]> {
  const rows = await selectRunsIn(db, sql`select unnest(${executionIds}::uuid[])`)
    .where('run.continues', 'is', null)
    .execute();
  return rows.map(withoutEarlierEnd);
}

function selectRunsIn(db: Db, ids: RawBuilder<unknown>) {
  return selectRuns(db)
    .select(costOfRun)
    .where(sql<boolean>`run.execution_id in (${ids})`)
    .orderBy('run.started_at', 'desc')
    .orderBy('run.execution_id', 'desc');
}

/** All runs of one flow, project or organization. */
export type RunScope = { flowId: string } | { projectId: string } | { organizationId: string };

/** Whether a run is in this scope. */
export async function hasRun(db: Db, scope: RunScope, executionId: string): Promise<boolean> {
  const [column, id] =
    'flowId' in scope
      ? (['flow_id', scope.flowId] as const)
      : 'projectId' in scope
        ? (['project_id', scope.projectId] as const)
        : (['organization_id', scope.organizationId] as const);
  const row = await db
    .selectFrom('run')
    .select('execution_id')
    .where('execution_id', '=', executionId)
    .where('continues', 'is', null)
    .where(column, '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

/** Finds one run with its result. */
export async function findListedRun(db: Db, executionId: string) {
  const row = await selectRuns(db)
    .select(['run.result', 'run.concluded_by', costOfRun])
    .where('run.execution_id', '=', executionId)
    .executeTakeFirst();
  return row && withoutEarlierEnd(row);
}

/** Selects runs with the columns for callers, except their cost. */
export function selectRuns(db: Db) {
  return db
    .selectFrom('run')
    .innerJoin('organization', 'organization.id', 'run.organization_id')
    .innerJoin('project', 'project.id', 'run.project_id')
    .innerJoin('flow', 'flow.id', 'run.flow_id')
    .innerJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
    .select([
      'run.execution_id',
      'run.organization_id',
      'run.project_id',
      'run.flow_id',
      'run.flow_version_id',
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
      'run.mode',
      'run.environment',
      'run.key_id',
      'run.repeats',
      'run.trace_context',
      'run.error',
      'run.started_at',
      'run.finished_at',
      'flow_version.block_count',
    ])
    .select([hasParkedCall().as('parked'), statusOfRun().as('status'), versionOfRun().as('version')]);
}

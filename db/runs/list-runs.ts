// Lists runs: of every organization for operators, and of one flow for its callers.
import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { costOfRun, hasParkedCall, statusOfRun, versionOfRun } from './run-columns.ts';
import { type RunFilter, selectRunPage } from './select-run-page.ts';

/** Lists runs, newest first, each with all its calls and the cost of their blocks in microcredits. */
export function listRuns(db: Db, filter: RunFilter) {
  return selectRuns(db)
    .where(sql<boolean>`run.execution_id in (${selectRunPage(filter)})`)
    .orderBy('run.started_at', 'desc')
    .orderBy('run.execution_id', 'desc')
    .execute();
}
export type ListedRun = Awaited<ReturnType<typeof listRuns>>[number];

/** Finds one run with its input and result. */
export function findListedRun(db: Db, executionId: string) {
  return selectRuns(db)
    .select(['run.input', 'run.result', 'run.concluded_by'])
    .where('run.execution_id', '=', executionId)
    .executeTakeFirst();
}

function selectRuns(db: Db) {
  return db
    .selectFrom('run')
    .innerJoin('organization', 'organization.id', 'run.organization_id')
    .innerJoin('project', 'project.id', 'run.project_id')
    .innerJoin('flow', 'flow.id', 'run.flow_id')
    .innerJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
    .select([
      'run.execution_id',
      'run.flow_id',
      'run.flow_version_id',
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
      'run.mode',
      'run.environment',
      'run.error',
      'run.started_at',
      'run.finished_at',
    ])
    .select([costOfRun, hasParkedCall().as('parked')])
    .select([statusOfRun().as('status'), versionOfRun().as('version')]);
}

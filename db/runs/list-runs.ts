// Lists runs: of every organization for operators, and of one flow for its callers.
import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import type { Environment, RunMode, RunStatus } from '../schema.ts';
import { costOfRun, isParked, statusOfRun, versionOfRun } from './run-columns.ts';

/** Absent fields match every run; organization, project and flow are slugs. */
type RunFilter = {
  flowId?: string | undefined;
  organization?: string | undefined;
  project?: string | undefined;
  flow?: string | undefined;
  status?: RunStatus | undefined;
  /** true: only runs that wait for an operator. */
  parked?: boolean | undefined;
  mode?: RunMode | undefined;
  environment?: Environment | undefined;
  version?: number | undefined;
  /** Started at this time or later. */
  since?: Date | undefined;
  /** Started before this time. */
  until?: Date | undefined;
  /** executionId of the last run of the page before. */
  after?: string | undefined;
  limit: number;
};

/** Lists runs, newest first, each with all its calls and the cost of their blocks in microcredits. */
export function listRuns(db: Db, filter: RunFilter) {
  const {
    flowId,
    organization,
    project,
    flow,
    status,
    parked,
    mode,
    environment,
    version,
    since,
    until,
    after,
  } = filter;
  return (
    selectRuns(db)
      .where('run.continues', 'is', null)
      .$if(flowId !== undefined, (query) => query.where('run.flow_id', '=', flowId as string))
      .$if(organization !== undefined, (query) =>
        query.where('organization.slug', '=', organization as string),
      )
      .$if(project !== undefined, (query) => query.where('project.slug', '=', project as string))
      .$if(flow !== undefined, (query) => query.where('flow.slug', '=', flow as string))
      .$if(status !== undefined, (query) => query.where(statusOfRun(), '=', status as RunStatus))
      .$if(parked === true, (query) => query.where(isParked()))
      .$if(mode !== undefined, (query) => query.where('run.mode', '=', mode as RunMode))
      .$if(environment !== undefined, (query) =>
        query.where('run.environment', '=', environment as Environment),
      )
      .$if(version !== undefined, (query) => query.where('flow_version.version', '=', version as number))
      .$if(since !== undefined, (query) => query.where('run.started_at', '>=', since as Date))
      .$if(until !== undefined, (query) => query.where('run.started_at', '<', until as Date))
      // Compared in the database, whose times are finer than a Date.
      .$if(after !== undefined, (query) =>
        query.where(
          sql<boolean>`(run.started_at, run.execution_id) <
          (select started_at, execution_id from run where execution_id = ${after})`,
        ),
      )
      .orderBy('run.started_at', 'desc')
      .orderBy('run.execution_id', 'desc')
      .limit(filter.limit)
      .execute()
  );
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
    .select([costOfRun, isParked().as('parked')])
    .select([statusOfRun().as('status'), versionOfRun().as('version')]);
}

// Runs as an operator sees them: of every organization.
import { sql } from 'kysely';
import type { Db } from './connect.ts';
import type { RunStatus } from './schema.ts';

/** Slugs; each that is absent matches every one. */
export type RunFilter = {
  organization?: string | undefined;
  project?: string | undefined;
  flow?: string | undefined;
  status?: RunStatus | undefined;
  limit: number;
};

/** Newest first, with the cost of their blocks in microcredits. */
export function listRuns(db: Db, filter: RunFilter) {
  const { organization, project, flow, status } = filter;
  return selectRuns(db)
    .$if(organization !== undefined, (query) => query.where('organization.slug', '=', organization as string))
    .$if(project !== undefined, (query) => query.where('project.slug', '=', project as string))
    .$if(flow !== undefined, (query) => query.where('flow.slug', '=', flow as string))
    .$if(status !== undefined, (query) => query.where('run.status', '=', status as RunStatus))
    .orderBy('run.started_at', 'desc')
    .orderBy('run.execution_id', 'desc')
    .limit(filter.limit)
    .execute();
}
export type ListedRun = Awaited<ReturnType<typeof listRuns>>[number];

/** One run with its input and result. */
export function findListedRun(db: Db, executionId: string) {
  return selectRuns(db)
    .select(['run.input', 'run.result'])
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
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
      'flow_version.version',
      'run.mode',
      'run.environment',
      'run.status',
      'run.error',
      'run.started_at',
      'run.finished_at',
    ])
    .select((eb) =>
      eb
        .selectFrom('block_run')
        .select(sql<number>`coalesce(sum(cost_microcredits), 0)::bigint`.as('sum'))
        .whereRef('block_run.execution_id', '=', 'run.execution_id')
        .$asScalar()
        .as('cost_microcredits'),
    );
}

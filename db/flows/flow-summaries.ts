// Flows in lists, without their drafts.
import { sql } from 'kysely';
import type { ErrorCode } from '../../flow/errors.ts';
import type { Db, Tx } from '../connect.ts';
import { statusOfRun } from '../runs/run-columns.ts';
import { readableJson } from '../stored-values/find-brought-outputs.ts';
import { isSameAsDraft } from './flow-designs.ts';

/** Selects the flows of a project, with how the draft relates to the versions, and the latest run. */
function summariesOf(db: Db | Tx, projectId: string) {
  return db
    .selectFrom('flow')
    .leftJoin('flow_version as production', (join) =>
      join
        .onRef('production.flow_id', '=', 'flow.id')
        .onRef('production.version', '=', 'flow.production_version'),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('flow_version')
          .select(['flow_version.version', 'flow_version.definition_digest'])
          .whereRef('flow_version.flow_id', '=', 'flow.id')
          .where('flow_version.version', 'is not', null)
          .orderBy('flow_version.version', 'desc')
          .limit(1)
          .as('latest'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('run')
          .select([
            'run.execution_id',
            statusOfRun().as('status'),
            'run.outcome',
            'run.started_at',
            sql<ErrorCode | null>`${readableJson('run.error')} ->> 'code'`.as('code'),
          ])
          .whereRef('run.flow_id', '=', 'flow.id')
          .where('run.continues', 'is', null)
          .orderBy('run.started_at', 'desc')
          .orderBy('run.execution_id', 'desc')
          .limit(1)
          .as('last_run'),
      (join) => join.onTrue(),
    )
    .select([
      'flow.id',
      'flow.project_id',
      'flow.slug',
      'flow.name',
      'flow.description',
      'flow.production_version',
      'flow.created_at',
      'flow.updated_at',
      'latest.version as latest_version',
      'last_run.execution_id as last_run_id',
      'last_run.status as last_run_status',
      'last_run.outcome as last_run_outcome',
      'last_run.code as last_run_code',
      'last_run.started_at as last_run_started_at',
      isSameAsDraft('production').as('draft_is_production'),
      isSameAsDraft('latest').as('draft_is_latest'),
    ])
    .where('flow.project_id', '=', projectId)
    .where('flow.deleted_at', 'is', null);
}
export type FlowSummary = NonNullable<Awaited<ReturnType<typeof findFlowSummary>>>;

/** Finds a flow of a project. */
export function findFlowSummary(db: Db | Tx, projectId: string, flowId: string) {
  return summariesOf(db, projectId).where('flow.id', '=', flowId).executeTakeFirst();
}

/** Lists the flows of a project by slug, starting after the slug `after`; with a `search`, only matching flows. */
export function listFlowSummaries(
  db: Db,
  projectId: string,
  { after, limit, search }: { after: string; limit: number; search?: string | undefined },
): Promise<FlowSummary[]> {
  return summariesOf(db, projectId)
    .where('flow.slug', '>', after)
    .$if(search !== undefined, (query) =>
      query.where(sql<boolean>`strpos(lower(flow.name || ' ' || flow.slug), lower(${search})) > 0`),
    )
    .orderBy('flow.slug')
    .limit(limit)
    .execute();
}

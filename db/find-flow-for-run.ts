import type { Db } from './connect.ts';

export type FlowQuery = {
  /** Slugs. */
  organization: string;
  project: string;
  flow: string;
  /** What the caller may reach: the project of its API key, or those of the organizations a user belongs to. */
  within: { projectId: string } | { userId: string };
  version: number | 'production';
};

/** The published version of a flow that a caller may run; undefined when there is none within its reach. */
export function findFlowForRun(db: Db, query: FlowQuery) {
  const { within } = query;
  return db
    .selectFrom('flow')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .innerJoin('flow_version', 'flow_version.flow_id', 'flow.id')
    .select([
      'organization.id as organizationId',
      'organization.balance_microcredits as balanceMicrocredits',
      'project.id as projectId',
      'flow.id as flowId',
      'flow_version.id as flowVersionId',
      'flow_version.version',
    ])
    .where('organization.slug', '=', query.organization)
    .where('organization.deleted_at', 'is', null)
    .where('project.slug', '=', query.project)
    .where('project.deleted_at', 'is', null)
    .where((eb) =>
      'projectId' in within
        ? eb('project.id', '=', within.projectId)
        : eb.exists(
            eb
              .selectFrom('membership')
              .select('membership.role')
              .whereRef('membership.organization_id', '=', 'organization.id')
              .where('membership.user_id', '=', within.userId),
          ),
    )
    .where('flow.slug', '=', query.flow)
    .where('flow.deleted_at', 'is', null)
    .where((eb) =>
      eb(
        'flow_version.version',
        '=',
        query.version === 'production' ? eb.ref('flow.production_version') : query.version,
      ),
    )
    .executeTakeFirst();
}

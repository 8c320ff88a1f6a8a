import type { NotNull } from 'kysely';
import type { Db } from '../connect.ts';
import { hasProjectAccess, type ProjectAccess } from '../tenants/project-access.ts';

type FlowQuery = {
  /** The slugs of organization, project and flow. */
  organization: string;
  project: string;
  flow: string;
  within: ProjectAccess;
  version: number | 'production';
};

/** Finds the published version of a flow that a caller may run; undefined when the caller can access none. */
export function findFlowForRun(db: Db, query: FlowQuery) {
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
    .where(hasProjectAccess(query.within))
    .where('flow.slug', '=', query.flow)
    .where('flow.deleted_at', 'is', null)
    .where((eb) =>
      eb(
        'flow_version.version',
        '=',
        query.version === 'production' ? eb.ref('flow.production_version') : query.version,
      ),
    )
    .$narrowType<{ version: NotNull }>()
    .executeTakeFirst();
}

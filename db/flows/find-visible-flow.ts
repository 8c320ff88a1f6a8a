import type { Db, Tx } from '../connect.ts';
import { hasProjectAccess, type ProjectAccess } from '../tenants/project-access.ts';
import { RUN_LIMITS } from '../tenants/run-limits.ts';

function visibleFlows(db: Db | Tx, flowId: string, access: ProjectAccess) {
  return db
    .selectFrom('flow')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .select([
      'flow.id as flowId',
      'project.id as projectId',
      'organization.id as organizationId',
      ...RUN_LIMITS,
    ])
    .where('flow.id', '=', flowId)
    .where('flow.deleted_at', 'is', null)
    .where('project.deleted_at', 'is', null)
    .where('organization.deleted_at', 'is', null)
    .where(hasProjectAccess(access));
}

/**
 * Finds a flow, without its draft, and its organization's limits for runs, unless the flow is deleted or the caller
 * has no access.
 */
export function findVisibleFlow(db: Db, flowId: string, access: ProjectAccess) {
  return visibleFlows(db, flowId, access).executeTakeFirst();
}

/** Finds and locks a flow in the same way, until the transaction ends. */
export function lockVisibleFlow(
  tx: Tx,
  flowId: string,
  access: ProjectAccess,
): Promise<VisibleFlow | undefined> {
  return visibleFlows(tx, flowId, access).forNoKeyUpdate('flow').executeTakeFirst();
}
export type VisibleFlow = NonNullable<Awaited<ReturnType<typeof findVisibleFlow>>>;

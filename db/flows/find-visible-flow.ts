import type { Db, Tx } from '../connect.ts';
import { type Reach, withinReach } from '../tenants/reach.ts';

function visibleFlows(db: Db | Tx, flowId: string, reach: Reach) {
  return db
    .selectFrom('flow')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .innerJoin('organization', 'organization.id', 'project.organization_id')
    .select([
      'flow.id as flowId',
      'project.id as projectId',
      'organization.id as organizationId',
      'organization.balance_microcredits as balanceMicrocredits',
      'flow.draft',
    ])
    .where('flow.id', '=', flowId)
    .where('flow.deleted_at', 'is', null)
    .where('project.deleted_at', 'is', null)
    .where('organization.deleted_at', 'is', null)
    .where(withinReach(reach));
}

/** A flow with its draft and its organization's balance; undefined when the caller can't reach it, or it is deleted. */
export function findVisibleFlow(db: Db, flowId: string, reach: Reach) {
  return visibleFlows(db, flowId, reach).executeTakeFirst();
}

/** The same; nobody deletes or changes the flow before the transaction ends. */
export function lockVisibleFlow(tx: Tx, flowId: string, reach: Reach): Promise<VisibleFlow | undefined> {
  return visibleFlows(tx, flowId, reach).forNoKeyUpdate('flow').executeTakeFirst();
}
export type VisibleFlow = NonNullable<Awaited<ReturnType<typeof findVisibleFlow>>>;

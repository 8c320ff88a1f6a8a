import { type Db, inTransaction, type Tx } from '../../db/connect.ts';
import { type FlowDesign, findFlowDesign, loadDrafts, lockFlowDesign } from '../../db/flows/flow-designs.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { addToLogContext } from '../../platform/observability/log-context.ts';
import type { McpCall } from './tool.ts';

/**
 * Finds a flow that the caller may see, without its draft. Throws the same NOT_FOUND for unknown flows and for flows
 * of others.
 */
export async function requireFlowDesign({ deps, user }: McpCall, flowId: string): Promise<FlowDesign> {
  const flow = (await findFlowDesign(deps.db, user.userId, flowId)) ?? throwFlowNotFound(flowId);
  deps.memberProfiles.save(flow.organization_id, user);
  addToLogContext({ organization_id: flow.organization_id });
  return flow;
}

/** Loads the draft of a flow. Throws NOT_FOUND when the flow was deleted meanwhile. */
export async function loadVisibleDraft(db: Db | Tx, flowId: string): Promise<FlowDefinition> {
  return (await loadDrafts(db, [flowId])).get(flowId) ?? throwFlowNotFound(flowId);
}

/**
 * Runs `work` in one transaction that locks the flow without loading its draft. `work` records its changes itself.
 */
export function withLockedFlow<T>(
  { deps, user }: McpCall,
  flowId: string,
  work: (tx: Tx, flow: FlowDesign & { organizationId: string }) => Promise<T>,
): Promise<T> {
  return inTransaction(deps.db, async (tx) => {
    const flow = (await lockFlowDesign(tx, user.userId, flowId)) ?? throwFlowNotFound(flowId);
    deps.memberProfiles.save(flow.organization_id, user);
    addToLogContext({ organization_id: flow.organization_id });
    return work(tx, { ...flow, organizationId: flow.organization_id });
  });
}

function throwFlowNotFound(flowId: string): never {
  throw new ServiceError(
    'NOT_FOUND',
    `You cannot see a flow with the id ${flowId}: hydrate_project lists the flows of a project.`,
  );
}

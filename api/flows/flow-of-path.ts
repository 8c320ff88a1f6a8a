// The flow in the path of a request, `/api/v1/projects/{project_id}/flows/{flow_id}/…`. The NOT_FOUND is the same for
// a flow that does not exist, is in another project, or is not visible to the caller.
import type { Db, Tx } from '../../db/connect.ts';
import {
  type FlowDesign,
  findFlowHead,
  findFlowOfProject,
  loadDrafts,
  lockFlowOfProject,
  measureDraft,
} from '../../db/flows/flow-designs.ts';
import type { Author } from '../../db/tenants/audit-entries.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { writeAuthorized } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext } from '../http/context.ts';
import { reserveAnswer } from '../http/reserve-bytes.ts';

type Request = { state: ApiContext['state']; params: ApiContext['params'] };
type LockedFlow = FlowDesign & { organizationId: string };

/** Gets the id in the path. Throws NOT_FOUND when it is malformed. */
export function flowIdOf({ params: { flow_id: id = '' } }: Request): string {
  if (!UUID_PATTERN.test(id)) throw flowOfProjectNotFound();
  return id;
}

export async function getFlowWithDraft(db: Db, request: Request) {
  const flow = await findFlowOfProject(db, request.state.project.id, flowIdOf(request));
  if (!flow) throw flowOfProjectNotFound();
  return flow;
}

export async function requireFlow(db: Db, request: Request) {
  const flow = await findFlowHead(db, request.state.project.id, flowIdOf(request));
  if (!flow) throw flowOfProjectNotFound();
  return flow;
}

/** Gets the draft of the flow, and reserves memory for it until the response is sent. Throws as `reserveBytes` does. */
export async function getDraft(
  deps: Pick<ApiDeps, 'db' | 'gates'>,
  ctx: ApiContext,
): Promise<FlowDefinition> {
  const { id } = await requireFlow(deps.db, ctx);
  await reserveAnswer(deps, ctx, ctx.state.project.organization_id, await measureDraft(deps.db, id));
  return loadDraftOf(deps.db, id);
}

/** Loads the draft of a flow. Throws NOT_FOUND when the flow was deleted meanwhile. */
export async function loadDraftOf(db: Db | Tx, flowId: string): Promise<FlowDefinition> {
  const draft = (await loadDrafts(db, [flowId])).get(flowId);
  if (!draft) throw flowOfProjectNotFound();
  return draft;
}

/**
 * Writes in one transaction, which authorizes the caller again and locks the flow without loading its draft. The
 * write records itself.
 */
export function writeFlow<T>(
  db: Db,
  request: Request,
  write: (tx: Tx, author: Author, flow: LockedFlow) => Promise<T>,
): Promise<T> {
  const id = flowIdOf(request);
  return writeAuthorized(db, request.state, async (tx, author) => {
    const flow = await lockFlowOfProject(tx, request.state.project.id, id);
    if (!flow) throw flowOfProjectNotFound();
    return write(tx, author, { ...flow, organizationId: flow.organization_id });
  });
}

export function flowOfProjectNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such flow in the project.');
}

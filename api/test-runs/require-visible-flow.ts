import type { Tx } from '../../db/connect.ts';
import { findVisibleFlow, lockVisibleFlow, type VisibleFlow } from '../../db/flows/find-visible-flow.ts';
import type { ProjectAccess } from '../../db/tenants/project-access.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { ApiDeps } from '../deps.ts';

/** A flow that the caller may see; for any other throws NOT_FOUND, in words about `what` the caller asked for. */
export async function requireVisibleFlow(
  { db }: Pick<ApiDeps, 'db'>,
  flowId: string | undefined,
  access: ProjectAccess,
  what = 'flow',
): Promise<VisibleFlow> {
  const flow = flowId && (await findVisibleFlow(db, flowId, access));
  if (!flow) throw notVisible(what);
  return flow;
}

/** The same, until the transaction ends. */
export async function requireLockedFlow(
  tx: Tx,
  flowId: string,
  access: ProjectAccess,
  what = 'flow',
): Promise<VisibleFlow> {
  const flow = await lockVisibleFlow(tx, flowId, access);
  if (!flow) throw notVisible(what);
  return flow;
}

/** The same for what is unknown and what is foreign. */
export function notVisible(what: string): ServiceError {
  return new ServiceError('NOT_FOUND', `There is no such ${what} among those you may see.`);
}

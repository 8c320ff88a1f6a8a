import type { Tx } from '../../db/connect.ts';
import { findVisibleFlow, lockVisibleFlow, type VisibleFlow } from '../../db/flows/find-visible-flow.ts';
import type { Reach } from '../../db/tenants/reach.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { ApiDeps } from '../deps.ts';

/** A flow that the caller may see; for any other throws NOT_FOUND, in words about `what` the caller asked for. */
export async function requireFlow(
  { db }: Pick<ApiDeps, 'db'>,
  flowId: string | undefined,
  reach: Reach,
  what = 'flow',
): Promise<VisibleFlow> {
  const flow = flowId && (await findVisibleFlow(db, flowId, reach));
  if (!flow) throw noSuch(what);
  return flow;
}

/** The same, until the transaction ends. */
export async function lockFlow(tx: Tx, flowId: string, reach: Reach, what = 'flow'): Promise<VisibleFlow> {
  const flow = await lockVisibleFlow(tx, flowId, reach);
  if (!flow) throw noSuch(what);
  return flow;
}

/** The same for what is unknown and what is foreign. */
export function noSuch(what: string): ServiceError {
  return new ServiceError('NOT_FOUND', `There is no such ${what} among those you may see.`);
}

import type { Db, Tx } from '../../db/connect.ts';
import { findVisibleFlow, lockVisibleFlow, type VisibleFlow } from '../../db/flows/find-flow.ts';
import type { Author } from '../../db/tenants/audit-entries.ts';
import { lockOrganization } from '../../db/tenants/organizations.ts';
import type { ProjectAccess } from '../../db/tenants/projects.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { ApiState } from '../http/context.ts';
import { accessOf, authorOf } from '../http/principal.ts';

/**
 * The caller of an operation on a flow: the projects they may access, the author for the audit log, and, where they
 * were authorized for a project, the function that authorizes them again before a write (`requireLockedFlow`). `keyed` is the write
 * of a request with an Idempotency-Key.
 */
export type Caller = { access: ProjectAccess; author: Author } & Pick<ApiState, 'authorizeAgain' | 'keyed'>;

/** Describes the caller of a request. */
export function toCaller(
  state: Pick<ApiState, 'principal' | 'requestId' | 'authorizeAgain' | 'keyed'>,
): Caller {
  const { principal, requestId, authorizeAgain, keyed } = state;
  return {
    access: accessOf(principal),
    author: authorOf(principal, requestId),
    ...(authorizeAgain && { authorizeAgain }),
    ...(keyed && { keyed }),
  };
}

/** Finds a flow that the caller may see. Throws NOT_FOUND with a message about `what`. */
export async function requireVisibleFlow(
  { db }: { db: Db },
  flowId: string | undefined,
  access: ProjectAccess,
  what = 'flow',
): Promise<VisibleFlow> {
  const flow = flowId && (await findVisibleFlow(db, flowId, access));
  if (!flow) throw notVisible(what);
  return flow;
}

/**
 * Finds such a flow and locks it until the transaction ends, for a write. Authorizes the caller again first, as
 * `writeAuthorized` does: throws UNAUTHENTICATED when the key was revoked meanwhile.
 */
export async function requireLockedFlow(
  tx: Tx,
  { access, authorizeAgain }: Caller,
  { flowId, organizationId }: Pick<VisibleFlow, 'flowId' | 'organizationId'>,
  what = 'flow',
): Promise<VisibleFlow> {
  if (authorizeAgain) {
    await lockOrganization(tx, organizationId);
    await authorizeAgain(tx);
  }
  const flow = await lockVisibleFlow(tx, flowId, access);
  if (!flow) throw notVisible(what);
  return flow;
}

/** Makes the NOT_FOUND for things that do not exist or that the caller may not see. */
export function notVisible(what: string): ServiceError {
  return new ServiceError('NOT_FOUND', `There is no such ${what} among those you may see.`);
}

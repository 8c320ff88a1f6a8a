import { refuseCredentials } from '../../auth/authenticate.ts';
import type { AuthDeps } from '../../auth/deps.ts';
import { findLostAccess } from '../../auth/find-lost-access.ts';
import type { Principal } from '../../http/principal.ts';
import { flowNotFound } from './load-flow.ts';

/**
 * Looks again, after a request has waited, whether its caller may still reach the organization's flows. Throws what a new
 * request would: UNAUTHENTICATED, or FLOW_NOT_FOUND for a user who is no longer a member.
 */
export async function requireStillAllowed(
  deps: Pick<AuthDeps, 'db' | 'apiKeys'>,
  principal: Principal,
  organizationId: string,
): Promise<void> {
  const lost = await findLostAccess(deps, principal, organizationId);
  if (lost === 'unauthenticated') refuseCredentials();
  if (lost === 'not_member') throw flowNotFound();
}

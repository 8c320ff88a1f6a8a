import { findLostAccess, refuseCredentials } from '../../auth/authenticate.ts';
import type { AuthDeps } from '../../auth/deps.ts';
import type { Principal } from '../../http/principal.ts';
import { flowNotFound } from './load-flow.ts';

/**
 * Checks again, after a wait, whether the caller may still reach the organization's flows. Throws the errors of a new
 * request: UNAUTHENTICATED, or FLOW_NOT_FOUND for a former member.
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

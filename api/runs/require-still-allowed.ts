import { findRole } from '../../db/tenants/memberships.ts';
import { isUsable, refuseCredentials } from '../auth/authenticate.ts';
import type { AuthDeps } from '../auth/deps.ts';
import type { Principal } from '../http/principal.ts';
import { flowNotFound } from './load-flow.ts';

/**
 * Looks again, after a request has waited, whether its caller may still reach the organization's flows. Throws what a new
 * request would: UNAUTHENTICATED, or FLOW_NOT_FOUND for a user who is no longer a member.
 */
export async function requireStillAllowed(
  { db, apiKeys }: Pick<AuthDeps, 'db' | 'apiKeys'>,
  principal: Principal,
  organizationId: string,
): Promise<void> {
  if (principal.kind === 'key') {
    if (!isUsable(await apiKeys.find(principal.key.key_id))) refuseCredentials();
    return;
  }
  if (principal.expiresAt.getTime() <= Date.now()) refuseCredentials();
  if (!(await findRole(db, organizationId, principal.userId))) throw flowNotFound();
}

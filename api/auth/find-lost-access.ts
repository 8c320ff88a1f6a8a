import { findRole } from '../../db/tenants/memberships.ts';
import type { Principal } from '../http/principal.ts';
import { isUsable } from './authenticate.ts';
import type { AuthDeps } from './deps.ts';
import type { MemberCache } from './member-cache.ts';

/**
 * Finds why an admitted caller has lost access to the organization's flows: the key or token is no longer valid, or
 * the user has left (`isMember`). Undefined while they have access.
 */
export async function findLostAccess(
  { db, apiKeys }: Pick<AuthDeps, 'db' | 'apiKeys'>,
  principal: Principal,
  organizationId: string,
  isMember: MemberCache['has'] = async (...ids) => (await findRole(db, ...ids)) !== undefined,
): Promise<'unauthenticated' | 'not_member' | undefined> {
  if (principal.kind === 'key')
    return isUsable(await apiKeys.find(principal.key.key_id)) ? undefined : 'unauthenticated';
  if (principal.expiresAt.getTime() <= Date.now()) return 'unauthenticated';
  return (await isMember(organizationId, principal.userId)) ? undefined : 'not_member';
}

/** Whether an admitted caller may still read the organization's flows. The answer may be up to 10 s old. */
export async function mayStillRead(
  deps: Pick<AuthDeps, 'db' | 'apiKeys' | 'members'>,
  principal: Principal,
  organizationId: string,
): Promise<boolean> {
  return !(await findLostAccess(deps, principal, organizationId, deps.members.has));
}

import { findRole } from '../../db/tenants/memberships.ts';
import type { Principal } from '../http/principal.ts';
import { isUsable } from './authenticate.ts';
import type { AuthDeps } from './deps.ts';
import type { MemberCache } from './member-cache.ts';

/**
 * Finds why a caller who was let in may no longer reach the organization's flows: the key or token is no longer valid, or the
 * user is no longer a member, as `isMember` says. Undefined while they may.
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

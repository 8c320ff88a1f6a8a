import type { Db } from '../../db/connect.ts';
import { findRole } from '../../db/tenants/memberships.ts';
import type { Principal } from '../http/principal.ts';
import { isUsable } from './authenticate.ts';
import type { AuthDeps } from './deps.ts';
import type { isStillMember } from './is-still-member.ts';

/**
 * Finds why a caller who was let in may no longer reach the organization's flows: the key or token is no longer valid, or the
 * user is no longer a member, as `isMember` says. Undefined while they may.
 */
export async function findLostAccess(
  { db, apiKeys }: Pick<AuthDeps, 'db' | 'apiKeys'>,
  principal: Principal,
  organizationId: string,
  isMember: typeof isStillMember = isMemberNow,
): Promise<'unauthenticated' | 'not_member' | undefined> {
  if (principal.kind === 'key')
    return isUsable(await apiKeys.find(principal.key.key_id)) ? undefined : 'unauthenticated';
  if (principal.expiresAt.getTime() <= Date.now()) return 'unauthenticated';
  return (await isMember(db, organizationId, principal.userId)) ? undefined : 'not_member';
}

async function isMemberNow(db: Db, organizationId: string, userId: string): Promise<boolean> {
  return (await findRole(db, organizationId, userId)) !== undefined;
}

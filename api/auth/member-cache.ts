import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { logOutage } from '../../db/connection/database-errors.ts';
import { findRole, saveMemberProfile } from '../../db/tenants/memberships.ts';
import { log } from '../../platform/observability/log.ts';
import type { Principal } from '../http/principal.ts';

const MEMBERS_MAX = 10_000;

export type MemberProfiles = {
  /** Saves the caller's name and e-mail address in the background, once for each token. */
  save(organizationId: string, principal: Principal): void;
};

/** As long as a key is kept (api-key-cache.ts). */
const KEEP_MS = 10_000;

type Member = { organizationId: string; userId: string };

export type MemberCache = {
  /**
   * Whether a user is a member of an organization. The answer may be up to 10 s old. All streams of a user share one
   * lookup.
   */
  has(organizationId: string, userId: string): Promise<boolean>;
};

export function createMemberCache(db: Db): MemberCache {
  const members = new LRUCache<string, true, Member>({
    max: 10_000,
    ttl: KEEP_MS,
    fetchMethod: async (_key, _stale, { context: { organizationId, userId } }) =>
      (await findRole(db, organizationId, userId)) && true,
  });
  return {
    async has(organizationId, userId) {
      const context = { organizationId, userId };
      return (await members.fetch(`${organizationId} ${userId}`, { context })) === true;
    },
  };
}

export function createMemberProfiles(db: Db): MemberProfiles {
  /** For each member: when the newest known token was issued, in milliseconds. */
  const newest = new LRUCache<string, number>({ max: MEMBERS_MAX });
  return {
    save(organizationId, principal) {
      if (principal.kind === 'key') return;
      const { userId, profile, issuedAt } = principal;
      const member = `${organizationId} ${userId}`;
      if (profile.name === null && profile.email === null) return;
      if ((newest.get(member) ?? -1) >= issuedAt.getTime()) return;
      newest.set(member, issuedAt.getTime());
      saveMemberProfile(db, { organizationId, userId, ...profile, issuedAt }).catch((error: Error) => {
        newest.delete(member);
        if (!logOutage(error)) log.warn({ err: error }, 'The name of a member could not be saved.');
      });
    },
  };
}

import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { findRole } from '../../db/tenants/memberships.ts';

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

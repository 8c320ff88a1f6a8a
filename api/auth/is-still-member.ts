import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { findRole } from '../../db/tenants/memberships.ts';

/** As long as a key is kept (api-key-cache.ts). */
const KEEP_MS = 10_000;

type Look = { db: Db; organizationId: string; userId: string };

const members = new LRUCache<string, true, Look>({
  max: 10_000,
  ttl: KEEP_MS,
  fetchMethod: async (_key, _stale, { context: { db, organizationId, userId } }) =>
    (await findRole(db, organizationId, userId)) && true,
});

/**
 * Tells whether a user is a member of an organization, or was one up to 10 s ago: for looks that are repeated while an answer is
 * read. All streams of a user share them.
 */
export async function isStillMember(db: Db, organizationId: string, userId: string): Promise<boolean> {
  return (
    (await members.fetch(`${organizationId} ${userId}`, { context: { db, organizationId, userId } })) === true
  );
}

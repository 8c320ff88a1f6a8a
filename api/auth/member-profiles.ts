import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { logOutage } from '../../db/connection/database-outage.ts';
import { saveMemberProfile } from '../../db/tenants/member-profiles.ts';
import { log } from '../../platform/observability/log.ts';
import type { Principal } from '../http/principal.ts';

const MEMBERS_MAX = 10_000;

export type MemberProfiles = {
  /** Saves the caller's name and e-mail address in the background, once for each token. */
  save(organizationId: string, principal: Principal): void;
};

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

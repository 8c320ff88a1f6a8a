// Names and e-mail addresses of members, as the identity provider told them when the members acted in their organization.
import { sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';

type NewMemberProfile = {
  organizationId: string;
  userId: string;
  name: string | null;
  email: string | null;
  emailVerified: boolean;
  /** When the token that tells this was issued: what an older token tells changes nothing. */
  toldAt: Date;
};

/** Saves what a token tells of a member; what it does not tell stays as it was. */
export async function saveMemberProfile(db: Db | Tx, profile: NewMemberProfile): Promise<void> {
  await db
    .insertInto('member_profile')
    .values({
      organization_id: profile.organizationId,
      user_id: profile.userId,
      name: profile.name,
      email: profile.email,
      email_verified: profile.emailVerified,
      told_at: profile.toldAt,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'user_id'])
        .doUpdateSet({
          name: sql`coalesce(excluded.name, member_profile.name)`,
          email: sql`coalesce(excluded.email, member_profile.email)`,
          email_verified: sql`case when excluded.email is null then member_profile.email_verified else excluded.email_verified end`,
          told_at: sql`excluded.told_at`,
        })
        .where(sql<boolean>`member_profile.told_at < excluded.told_at`),
    )
    .execute();
}

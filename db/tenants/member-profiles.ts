import { sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';

type NewMemberProfile = {
  organizationId: string;
  userId: string;
  name: string | null;
  email: string | null;
  emailVerified: boolean;
  /** When the token with these claims was issued. Claims of an older token change nothing. */
  issuedAt: Date;
};

/** Saves the claims of a member's token; missing claims stay as they were. */
export async function saveMemberProfile(db: Db | Tx, profile: NewMemberProfile): Promise<void> {
  await db
    .insertInto('member_profile')
    .values({
      organization_id: profile.organizationId,
      user_id: profile.userId,
      name: profile.name,
      email: profile.email,
      email_verified: profile.emailVerified,
      told_at: profile.issuedAt,
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

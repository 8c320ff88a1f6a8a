// Memberships: the users of an organization, their roles and their profiles (docs/identity-and-access.md, Roles).
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import type { Role } from '../schema.ts';
import { lockOrganization } from './organizations.ts';

type NewMemberProfile = {
  organizationId: string;
  userId: string;
  name: string | null;
  email: string | null;
  emailVerified: boolean;
  /** When the token with these claims was issued. Claims of an older token change nothing. */
  issuedAt: Date;
};

/** Maximum number of organizations of one owner, not counting deleted ones. */
export const ORGANIZATIONS_OWNED_MAX = 50;

export const ALREADY_MEMBER = 'This user is already a member of the organization.';

function selectMembers(db: Db | Tx, organizationId: string) {
  return db
    .selectFrom('membership')
    .leftJoin('member_profile as profile', (join) =>
      join
        .onRef('profile.organization_id', '=', 'membership.organization_id')
        .onRef('profile.user_id', '=', 'membership.user_id'),
    )
    .select([
      'membership.organization_id',
      'membership.user_id',
      'membership.role',
      'membership.created_at',
      'membership.updated_at',
      'profile.name',
      'profile.email',
      'profile.email_verified',
    ])
    .where('membership.organization_id', '=', organizationId);
}
export type MemberRow = Awaited<ReturnType<typeof getMember>>;

function getMember(tx: Tx, organizationId: string, userId: string) {
  return selectMembers(tx, organizationId).where('membership.user_id', '=', userId).executeTakeFirstOrThrow();
}

/** Finds a user's role in an organization; undefined for a stranger, and when the organization is deleted. */
export async function findRole(
  db: Db | Tx,
  organizationId: string,
  userId: string,
): Promise<Role | undefined> {
  const row = await db
    .selectFrom('membership')
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .select('membership.role')
    .where('membership.organization_id', '=', organizationId)
    .where('membership.user_id', '=', userId)
    .where('organization.deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.role;
}

/** Throws CONFLICT when a user owns the maximum number of organizations. Does not see concurrent creations. */
export async function requireFewOwned(tx: Tx, userId: string): Promise<void> {
  const { owned } = await tx
    .selectFrom('membership')
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .select(sql<number>`count(*)::int`.as('owned'))
    .where('membership.user_id', '=', userId)
    .where('membership.role', '=', 'owner')
    .where('organization.deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (owned >= ORGANIZATIONS_OWNED_MAX)
    throw new ServiceError(
      'CONFLICT',
      `You own ${owned} organizations, and can make no more than ${ORGANIZATIONS_OWNED_MAX}: delete one first.`,
    );
}

type NewMember = { organizationId: string; userId: string; role: Role };

/** Adds a member. Throws NOT_FOUND for an unknown organization, CONFLICT when the user is already a member. */
export function insertMember(db: Db | Tx, member: NewMember): Promise<MemberRow> {
  return inTransaction(db, (tx) => insertInto(tx, member));
}

async function insertInto(tx: Tx, member: NewMember): Promise<MemberRow> {
  await lockOrganization(tx, member.organizationId);
  const row = await tx
    .insertInto('membership')
    .values({ organization_id: member.organizationId, user_id: member.userId, role: member.role })
    .onConflict((conflict) => conflict.columns(['organization_id', 'user_id']).doNothing())
    .returning('user_id')
    .executeTakeFirst();
  if (!row) throw new ServiceError('CONFLICT', ALREADY_MEMBER);
  return getMember(tx, member.organizationId, member.userId);
}

/** Lists members by user id, starting after the user id `after`. */
export function listMembers(
  db: Db | Tx,
  organizationId: string,
  page: { after?: string | undefined; limit: number },
): Promise<MemberRow[]> {
  return selectMembers(db, organizationId)
    .where('membership.user_id', '>', page.after ?? '')
    .orderBy('membership.user_id')
    .limit(page.limit)
    .execute();
}

/**
 * Locks a member until the transaction ends; returns the member and whether it is the only owner. Throws NOT_FOUND.
 */
export async function lockMember(
  tx: Tx,
  organizationId: string,
  userId: string,
): Promise<{ member: MemberRow; isLastOwner: boolean }> {
  await lockOrganization(tx, organizationId);
  const members = await selectMembers(tx, organizationId)
    .where((eb) => eb.or([eb('membership.user_id', '=', userId), eb('role', '=', 'owner')]))
    .execute();
  const member = members.find((row) => row.user_id === userId);
  if (!member) throw new ServiceError('NOT_FOUND', 'The organization has no such member.');
  return { member, isLastOwner: member.role === 'owner' && members.length === 1 };
}

/** Changes the role of a member whom the caller has locked. */
export async function updateRole(
  tx: Tx,
  organizationId: string,
  userId: string,
  role: Role,
): Promise<MemberRow> {
  await tx
    .updateTable('membership')
    .set({ role, updated_at: sql`now()` })
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute();
  return getMember(tx, organizationId, userId);
}

/** Removes a member whom the caller has locked. */
export async function deleteMember(tx: Tx, organizationId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom('membership')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute();
}

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

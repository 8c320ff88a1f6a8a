// Memberships: the users of an organization and their roles (docs/identity-and-access.md, Roles).
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import type { Role } from '../schema.ts';
import { lockOrganization } from './organizations.ts';

export const ALREADY_MEMBER = 'This user is already a member of the organization.';
const COLUMNS = ['organization_id', 'user_id', 'role', 'created_at', 'updated_at'] as const;

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

type NewMember = { organizationId: string; userId: string; role: Role };

/** Adds a member. Throws NOT_FOUND for an unknown organization, CONFLICT when the user is already a member. */
export function insertMember(db: Db | Tx, member: NewMember) {
  return inTransaction(db, (tx) => insertInto(tx, member));
}
export type MemberRow = Awaited<ReturnType<typeof insertMember>>;

async function insertInto(tx: Tx, member: NewMember) {
  await lockOrganization(tx, member.organizationId);
  const row = await tx
    .insertInto('membership')
    .values({ organization_id: member.organizationId, user_id: member.userId, role: member.role })
    .onConflict((conflict) => conflict.columns(['organization_id', 'user_id']).doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();
  if (!row) throw new ServiceError('CONFLICT', ALREADY_MEMBER);
  return row;
}

/** Lists members by user id, after the user id `after`. */
export function listMembers(
  db: Db | Tx,
  organizationId: string,
  page: { after?: string | undefined; limit: number },
): Promise<MemberRow[]> {
  return db
    .selectFrom('membership')
    .select(COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('user_id', '>', page.after ?? '')
    .orderBy('user_id')
    .limit(page.limit)
    .execute();
}

/**
 * Locks a member, and answers the member and whether it is the only owner; neither changes before the transaction
 * ends. Throws NOT_FOUND.
 */
export async function lockMember(
  tx: Tx,
  organizationId: string,
  userId: string,
): Promise<{ member: MemberRow; isLastOwner: boolean }> {
  await lockOrganization(tx, organizationId);
  const members = await tx
    .selectFrom('membership')
    .select(COLUMNS)
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('user_id', '=', userId), eb('role', '=', 'owner')]))
    .execute();
  const member = members.find((row) => row.user_id === userId);
  if (!member) throw new ServiceError('NOT_FOUND', 'The organization has no such member.');
  return { member, isLastOwner: member.role === 'owner' && members.length === 1 };
}

/** Changes the role of a member whom the caller has locked. */
export function updateRole(tx: Tx, organizationId: string, userId: string, role: Role): Promise<MemberRow> {
  return tx
    .updateTable('membership')
    .set({ role, updated_at: sql`now()` })
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Removes a member whom the caller has locked. */
export async function deleteMember(tx: Tx, organizationId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom('membership')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute();
}

// Invitations to organizations by e-mail address, in lower case. The caller of a write has locked the organization.
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import type { Db, Tx } from '../connect.ts';
import type { Page } from './organizations.ts';

export const INVITATIONS_MAX = 100;
const TOO_MANY_INVITATIONS = `The organization has ${INVITATIONS_MAX} open invitations: revoke one, or wait until one is accepted or expires.`;
export const ALREADY_INVITED =
  'This address is invited already: to change the role, revoke that invitation first.';
const ADDRESS_OF_MEMBER = 'A member of the organization has this address already.';
export const VALID_DAYS = 7;
/** Days for which an expired invitation is kept, to report its expiry. */
const EXPIRED_KEPT_DAYS = 30;
const COLUMNS = ['id', 'organization_id', 'email', 'role', 'invited_by', 'created_at', 'expires_at'] as const;

type NewInvitation = {
  organizationId: string;
  email: string;
  role: 'admin' | 'member';
  invitedBy: string;
};

/**
 * Adds an invitation for 7 days. Throws CONFLICT for an address that is invited or a member's, and beyond the limit.
 */
export async function insertInvitation(tx: Tx, { organizationId, email, role, invitedBy }: NewInvitation) {
  await tx
    .deleteFrom('invitation')
    .where('organization_id', '=', organizationId)
    .where((eb) =>
      eb.or([
        eb.and([eb('email', '=', email), eb('expires_at', '<=', sql<Date>`now()`)]),
        eb('expires_at', '<=', sql<Date>`now() - ${EXPIRED_KEPT_DAYS} * interval '1 day'`),
      ]),
    )
    .execute();
  if (await hasMemberWith(tx, organizationId, email)) throw new ServiceError('CONFLICT', ADDRESS_OF_MEMBER);
  const { open } = await tx
    .selectFrom('invitation')
    .select((eb) => eb.fn.countAll<number>().as('open'))
    .where('organization_id', '=', organizationId)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirstOrThrow();
  if (open >= INVITATIONS_MAX) throw new ServiceError('CONFLICT', TOO_MANY_INVITATIONS);
  const row = await tx
    .insertInto('invitation')
    .values({
      organization_id: organizationId,
      email,
      role,
      invited_by: invitedBy,
      expires_at: sql<Date>`now() + ${VALID_DAYS} * interval '24 hours'`,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'email']).doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();
  if (!row) throw new ServiceError('CONFLICT', ALREADY_INVITED);
  return row;
}
export type InvitationRow = Awaited<ReturnType<typeof insertInvitation>>;

/** Whether a member has this address, verified by the identity provider. */
async function hasMemberWith(tx: Tx, organizationId: string, email: string): Promise<boolean> {
  const row = await tx
    .selectFrom('membership')
    .innerJoin('member_profile as profile', (join) =>
      join
        .onRef('profile.organization_id', '=', 'membership.organization_id')
        .onRef('profile.user_id', '=', 'membership.user_id'),
    )
    .select('membership.user_id')
    .where('membership.organization_id', '=', organizationId)
    .where(sql`lower(profile.email)`, '=', email)
    .where('profile.email_verified', '=', true)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Lists the invitations of an organization by address, starting after the address `after`. */
export function listInvitations(
  db: Db,
  organizationId: string,
  { after = '', limit }: Page,
): Promise<InvitationRow[]> {
  return db
    .selectFrom('invitation')
    .select(COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('email', '>', after)
    .orderBy('email')
    .limit(limit)
    .execute();
}

/** Deletes an invitation, to revoke or to accept it; undefined when the organization has no such invitation. */
export function deleteInvitation(
  tx: Tx,
  organizationId: string,
  id: string,
): Promise<InvitationRow | undefined> {
  return tx
    .deleteFrom('invitation')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirst();
}

/** Deletes the invitations of a user who may no longer invite; returns the number. */
export async function deleteInvitationsBy(tx: Tx, organizationId: string, userId: string): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('invitation')
    .where('organization_id', '=', organizationId)
    .where('invited_by', '=', userId)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

function selectInvitationsOf(db: Db | Tx, email: string) {
  return db
    .selectFrom('invitation')
    .innerJoin('organization', 'organization.id', 'invitation.organization_id')
    .select([
      'invitation.id',
      'invitation.organization_id',
      'invitation.role',
      'invitation.invited_by',
      'invitation.expires_at',
      'organization.slug',
      'organization.name',
      sql<boolean>`invitation.expires_at <= now()`.as('has_expired'),
    ])
    .where('invitation.email', '=', email)
    .where('organization.deleted_at', 'is', null);
}

/** Finds an invitation of an address, even an expired one. */
export function findInvitationOf(tx: Tx, email: string, id: string) {
  return selectInvitationsOf(tx, email).where('invitation.id', '=', id).executeTakeFirst();
}

/** Lists the open invitations of an address to organizations that the user does not belong to, the newest first. */
export function listInvitationsOf(
  db: Db,
  { email, userId }: { email: string; userId: string },
  limit: number,
) {
  return selectInvitationsOf(db, email)
    .leftJoin('member_profile as profile', (join) =>
      join
        .onRef('profile.organization_id', '=', 'invitation.organization_id')
        .onRef('profile.user_id', '=', 'invitation.invited_by'),
    )
    .select((eb) => eb.fn.coalesce('profile.name', 'profile.email').as('inviter'))
    .where('invitation.expires_at', '>', sql<Date>`now()`)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('membership')
            .select('membership.user_id')
            .whereRef('membership.organization_id', '=', 'organization.id')
            .where('membership.user_id', '=', userId),
        ),
      ),
    )
    .orderBy('invitation.created_at', 'desc')
    .limit(limit)
    .execute();
}

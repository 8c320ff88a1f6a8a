import type { Db } from '../connect.ts';

/** A page of a list: up to `limit` rows after the cursor `after`. */
export type Page = { after?: string | undefined; limit: number };

function organizationsOf(db: Db, userId: string) {
  return db
    .selectFrom('membership')
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .select([
      'organization.id',
      'organization.slug',
      'organization.name',
      'organization.description',
      'organization.balance_microcredits',
      'organization.created_at',
      'organization.updated_at',
      'membership.role',
    ])
    .where('membership.user_id', '=', userId)
    .where('organization.deleted_at', 'is', null);
}
export type UserOrganization = Awaited<ReturnType<typeof listUserOrganizations>>[number];

/**
 * Lists the organizations of a user by slug, starting after the slug `after`, each with the user's role. Others do
 * not exist for that user.
 */
export function listUserOrganizations(db: Db, userId: string, { after = '', limit }: Page) {
  return organizationsOf(db, userId)
    .where('organization.slug', '>', after)
    .orderBy('organization.slug')
    .limit(limit)
    .execute();
}

/** Finds an organization of a user, with the user's role. */
export function findUserOrganization(
  db: Db,
  userId: string,
  by: { id: string } | { slug: string },
): Promise<UserOrganization | undefined> {
  const query = organizationsOf(db, userId);
  return (
    'id' in by ? query.where('organization.id', '=', by.id) : query.where('organization.slug', '=', by.slug)
  ).executeTakeFirst();
}

import { ServiceError } from '../flow/errors.ts';
import type { Db, Tx } from './connect.ts';

const COLUMNS = ['id', 'slug', 'name', 'description', 'balance_microcredits', 'created_at'] as const;

/** Throws CONFLICT when the slug is taken. */
export async function insertOrganization(
  db: Db | Tx,
  organization: { slug: string; name: string; description?: string },
) {
  const row = await db
    .insertInto('organization')
    .values({
      slug: organization.slug,
      name: organization.name,
      description: organization.description ?? '',
    })
    .onConflict((conflict) => conflict.column('slug').where('deleted_at', 'is', null).doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();
  if (!row)
    throw new ServiceError('CONFLICT', `An organization with the slug ${organization.slug} exists already.`);
  return row;
}
export type OrganizationRow = Awaited<ReturnType<typeof insertOrganization>>;

export function findOrganizationBySlug(db: Db | Tx, slug: string): Promise<OrganizationRow | undefined> {
  return db
    .selectFrom('organization')
    .select(COLUMNS)
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Every organization, by slug: for operators only. */
export function listOrganizations(db: Db | Tx): Promise<OrganizationRow[]> {
  return db
    .selectFrom('organization')
    .select(COLUMNS)
    .where('deleted_at', 'is', null)
    .orderBy('slug')
    .execute();
}

import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import type { Db, Tx } from '../connect.ts';

const COLUMNS = [
  'id',
  'slug',
  'name',
  'description',
  'balance_microcredits',
  'created_at',
  'updated_at',
] as const;

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

/** Fields of an organization or project that its record allows to change; an absent one stays. */
export type Named = { name?: string | undefined; description?: string | undefined };

/** It is not deleted, and its members stay as they are, before the transaction ends. Throws NOT_FOUND. */
export async function lockOrganization(tx: Tx, id: string): Promise<void> {
  const row = await tx
    .selectFrom('organization')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw unknownOrganization();
}

/** The caller has checked that it exists; one that was deleted meanwhile throws NOT_FOUND. */
export async function updateOrganization(
  tx: Tx,
  id: string,
  { name, description }: Named,
): Promise<OrganizationRow> {
  const row = await tx
    .updateTable('organization')
    .set({
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      updated_at: sql`now()`,
    })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirst();
  if (!row) throw unknownOrganization();
  return row;
}

/** Soft: its rows stay for operators, its slug is free, and nobody belongs to it any more. Throws NOT_FOUND. */
export async function deleteOrganization(tx: Tx, id: string): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set({ deleted_at: sql`now()` })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw unknownOrganization();
}

function unknownOrganization(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such organization.');
}

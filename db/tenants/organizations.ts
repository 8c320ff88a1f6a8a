// Tenants: organizations, members, projects, API keys, model keys, limits and the audit log. Functions take the
// database or a transaction and return rows. They throw ServiceError for rules that only the database can check. This
// file: organizations.
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
  'suspended_at',
  'suspension_reason',
] as const;

/** Creates an organization. Throws CONFLICT when the slug is taken. */
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
  if (!row) throw organizationSlugTaken(organization.slug);
  return row;
}
export type OrganizationRow = Awaited<ReturnType<typeof insertOrganization>>;

export function organizationSlugTaken(slug: string): ServiceError {
  return new ServiceError('CONFLICT', `There is already an organization with the slug ${slug}.`);
}

/** Finds an organization that is not deleted. */
export function findOrganizationBySlug(db: Db | Tx, slug: string): Promise<OrganizationRow | undefined> {
  return db
    .selectFrom('organization')
    .select(COLUMNS)
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Lists every organization by slug, for operators only. */
export function listOrganizations(db: Db | Tx): Promise<OrganizationRow[]> {
  return db
    .selectFrom('organization')
    .select(COLUMNS)
    .where('deleted_at', 'is', null)
    .orderBy('slug')
    .execute();
}

/** The fields of an organization or project that can be changed; absent ones stay as they are. */
export type Named = { name?: string | undefined; description?: string | undefined };

/** Returns the fields of `named` that differ from those of `row`. */
export function pickChanges(row: Required<Named>, named: Named): Named {
  const { name = row.name, description = row.description } = named;
  return {
    ...(name !== row.name && { name }),
    ...(description !== row.description && { description }),
  };
}

/** Locks an organization until the transaction ends: it is not deleted and its members stay. Throws NOT_FOUND. */
export async function lockOrganization(tx: Tx, id: string): Promise<void> {
  const row = await tx
    .selectFrom('organization')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw organizationNotFound();
}

/** Gets the name of an organization that the caller has locked. */
export async function getOrganizationName(tx: Tx, id: string): Promise<string> {
  const query = tx.selectFrom('organization').select('name').where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).name;
}

/** Changes the fields that differ; returns whether any did. Throws NOT_FOUND. */
export async function updateOrganization(
  tx: Tx,
  id: string,
  named: Named,
): Promise<{ row: OrganizationRow; changed: boolean }> {
  const row = await tx
    .selectFrom('organization')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw organizationNotFound();
  const changes = pickChanges(row, named);
  if (Object.keys(changes).length === 0) return { row, changed: false };
  const updated = await tx
    .updateTable('organization')
    .set({ ...changes, updated_at: sql`now()` })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  return { row: updated, changed: true };
}

/** Marks an organization as deleted: its slug is free, it has no members, its rows stay. Throws NOT_FOUND. */
export async function deleteOrganization(tx: Tx, id: string): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set({ deleted_at: sql`now()` })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw organizationNotFound();
}

export function organizationNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such organization.');
}

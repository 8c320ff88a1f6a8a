// Tenants: organizations, members, projects, API keys, model keys, limits and the audit log. Functions take the
// database or a transaction and return rows. They throw ServiceError for rules that only the database can check. This
// file: organizations.
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import type { Db, Tx } from '../connect.ts';
import type { Role } from '../schema.ts';

/** A page of a list: up to `limit` rows after the cursor `after`. */
export type Page = { after?: string | undefined; limit: number };

export type UserOrganization = Awaited<ReturnType<typeof listUserOrganizations>>[number];

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
  'runs_under_way_max',
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

/** Gets an organization. Throws NOT_FOUND. */
export async function getOrganization(db: Db | Tx, id: string): Promise<OrganizationRow> {
  const query = db.selectFrom('organization').select(COLUMNS).where('id', '=', id);
  const row = await query.where('deleted_at', 'is', null).executeTakeFirst();
  if (!row) throw organizationNotFound();
  return row;
}

/** Lists organizations of everybody by slug, starting after the slug `after`; for operators only. */
export function listOrganizations(db: Db | Tx, { after = '', limit }: Page): Promise<OrganizationRow[]> {
  return db
    .selectFrom('organization')
    .select(COLUMNS)
    .where('deleted_at', 'is', null)
    .where('slug', '>', after)
    .orderBy('slug')
    .limit(limit)
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

/**
 * Suspends an organization. For a suspended one, keeps the time, and the reason unless there is a new one. Returns
 * whether anything changed.
 */
export async function suspendOrganization(tx: Tx, id: string, reason: string | undefined): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set({
      suspended_at: sql`coalesce(suspended_at, now())`,
      ...(reason !== undefined && { suspension_reason: reason }),
    })
    .where('id', '=', id)
    .where((eb) =>
      eb.or([
        eb('suspended_at', 'is', null),
        ...(reason === undefined ? [] : [eb('suspension_reason', 'is distinct from', reason)]),
      ]),
    )
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends the suspension of an organization. Returns whether it was suspended. */
export async function endSuspension(tx: Tx, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization')
    .set({ suspended_at: null, suspension_reason: null })
    .where('id', '=', id)
    .where('suspended_at', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Who asks for organizations or projects: a user, or an operator, who is an owner of every organization. */
export type Viewer = { userId: string; isOperator?: true };

/** Selects the organizations of a viewer, as a table `membership` with the viewer's role in each. */
export function membershipsOf({ userId, isOperator }: Viewer) {
  const memberships = isOperator
    ? sql`(select id as organization_id, 'owner' as role from organization)`
    : sql`(select organization_id, role from membership where user_id = ${userId})`;
  return sql<{ organization_id: string; role: Role }>`${memberships}`.as<'membership'>(sql.ref('membership'));
}

function organizationsOf(db: Db, viewer: Viewer) {
  return db
    .selectFrom(membershipsOf(viewer))
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
    .where('organization.deleted_at', 'is', null);
}

/**
 * Lists the organizations of a viewer by slug, starting after the slug `after`, each with the viewer's role. Others do
 * not exist for a user.
 */
export function listUserOrganizations(db: Db, viewer: Viewer, { after = '', limit }: Page) {
  return organizationsOf(db, viewer)
    .where('organization.slug', '>', after)
    .orderBy('organization.slug')
    .limit(limit)
    .execute();
}

/** Finds an organization of a viewer, with the viewer's role. */
export function findUserOrganization(
  db: Db,
  viewer: Viewer,
  by: { id: string } | { slug: string },
): Promise<UserOrganization | undefined> {
  const query = organizationsOf(db, viewer);
  return (
    'id' in by ? query.where('organization.id', '=', by.id) : query.where('organization.slug', '=', by.slug)
  ).executeTakeFirst();
}

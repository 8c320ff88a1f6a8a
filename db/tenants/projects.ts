import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import { lockOrganization, type Named } from './organizations.ts';

const COLUMNS = [
  'id',
  'organization_id',
  'slug',
  'name',
  'description',
  'user_id',
  'created_at',
  'updated_at',
] as const;

type NewProject = {
  organizationId: string;
  slug: string;
  name: string;
  description?: string;
  /** Who creates it; an operator when absent. */
  userId?: string;
};

/** Throws NOT_FOUND for an unknown organization, CONFLICT when it has a project with this slug. */
export function insertProject(db: Db | Tx, project: NewProject) {
  return inTransaction(db, (tx) => insertInto(tx, project));
}
export type ProjectRow = Awaited<ReturnType<typeof insertProject>>;

async function insertInto(tx: Tx, project: NewProject) {
  await lockOrganization(tx, project.organizationId);
  const row = await tx
    .insertInto('project')
    .values({
      organization_id: project.organizationId,
      slug: project.slug,
      name: project.name,
      description: project.description ?? '',
      user_id: project.userId ?? null,
    })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'slug']).where('deleted_at', 'is', null).doNothing(),
    )
    .returning(COLUMNS)
    .executeTakeFirst();
  if (!row)
    throw new ServiceError(
      'CONFLICT',
      `The organization has a project with the slug ${project.slug} already.`,
    );
  return row;
}

export function findProjectBySlug(
  db: Db | Tx,
  organizationId: string,
  slug: string,
): Promise<ProjectRow | undefined> {
  return db
    .selectFrom('project')
    .select(COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** The organization's projects, by slug. */
export function listProjects(db: Db | Tx, organizationId: string): Promise<ProjectRow[]> {
  return db
    .selectFrom('project')
    .select(COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .orderBy('slug')
    .execute();
}

/** It is not deleted, and nobody else locks it, before the transaction ends. Throws NOT_FOUND. */
export async function lockProject(tx: Tx, id: string): Promise<void> {
  const row = await tx
    .selectFrom('project')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw unknownProject();
}

/** Throws NOT_FOUND when it was deleted meanwhile. */
export async function updateProject(tx: Tx, id: string, { name, description }: Named): Promise<ProjectRow> {
  const row = await tx
    .updateTable('project')
    .set({
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      updated_at: sql`now()`,
    })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirst();
  if (!row) throw unknownProject();
  return row;
}

/**
 * Soft deletes projects of an organization, all or one, with their flows; their API keys are revoked, and from here on
 * no run comes into them. Slugs are free, rows of runs stay. Answers the projects' ids. The caller has locked the
 * organization.
 */
export async function deleteProjects(tx: Tx, organizationId: string, projectId?: string): Promise<string[]> {
  // The stronger lock waits for runs that are being accepted, and holds up those that come after them.
  const rows = await tx
    .selectFrom('project')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .$if(projectId !== undefined, (query) => query.where('id', '=', projectId as string))
    .orderBy('id')
    .forUpdate()
    .execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  await tx.updateTable('project').set({ deleted_at: sql`now()` }).where('id', 'in', ids).execute();
  await tx
    .updateTable('flow')
    .set({ deleted_at: sql`now()` })
    .where('project_id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute();
  await tx
    .updateTable('api_key')
    .set({ revoked_at: sql`now()` })
    .where('project_id', 'in', ids)
    .where('revoked_at', 'is', null)
    .execute();
  return ids;
}

function unknownProject(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such project.');
}

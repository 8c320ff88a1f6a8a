import { ServiceError } from '../flow/errors.ts';
import type { Db, Tx } from './connect.ts';

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

/** Throws CONFLICT when the organization has a project with this slug. */
export async function insertProject(
  db: Db | Tx,
  project: { organizationId: string; slug: string; name: string; description?: string },
) {
  const row = await db
    .insertInto('project')
    .values({
      organization_id: project.organizationId,
      slug: project.slug,
      name: project.name,
      description: project.description ?? '',
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
export type ProjectRow = Awaited<ReturnType<typeof insertProject>>;

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

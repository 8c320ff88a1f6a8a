import { sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';
import type { Page } from './user-organizations.ts';

export const PROJECT_COLUMNS = [
  'project.id',
  'project.organization_id',
  'project.slug',
  'project.name',
  'project.description',
  'project.user_id',
  'project.created_at',
  'project.updated_at',
  'organization.slug as organization_slug',
] as const;

function projectsOf(db: Db, userId: string) {
  return db
    .selectFrom('membership')
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .innerJoin('project', 'project.organization_id', 'organization.id')
    .select([...PROJECT_COLUMNS, 'membership.role'])
    .where('membership.user_id', '=', userId)
    .where('organization.deleted_at', 'is', null)
    .where('project.deleted_at', 'is', null);
}
export type UserProject = NonNullable<Awaited<ReturnType<typeof findUserProject>>>;

/**
 * Lists the projects of a user's organizations by the slugs of organization and project, starting after `after`: the
 * two slugs, joined by a slash. Others do not exist for that user.
 */
export function listUserProjects(
  db: Db,
  userId: string,
  { after = '/', limit, organizationId }: Page & { organizationId?: string | undefined },
): Promise<UserProject[]> {
  const [organization = '', project = ''] = after.split('/');
  return projectsOf(db, userId)
    .where(sql<boolean>`(organization.slug, project.slug) > (${organization}, ${project})`)
    .$if(organizationId !== undefined, (query) =>
      query.where('project.organization_id', '=', organizationId as string),
    )
    .orderBy('organization.slug')
    .orderBy('project.slug')
    .limit(limit)
    .execute();
}

/** Finds such a project, with the user's role in its organization. */
export function findUserProject(db: Db, userId: string, id: string) {
  return projectsOf(db, userId).where('project.id', '=', id).executeTakeFirst();
}

/** Finds such a project and locks it, with the membership, until the transaction ends. */
export function lockUserProject(tx: Tx, userId: string, id: string): Promise<UserProject | undefined> {
  return projectsOf(tx, userId)
    .where('project.id', '=', id)
    .forNoKeyUpdate('project')
    .forShare('membership')
    .executeTakeFirst();
}

/** Lists a user's projects with a slug, one per organization; with `organizationId`, only of this organization. */
export function listUserProjectsBySlug(
  db: Db,
  userId: string,
  slug: string,
  organizationId: string | undefined,
  limit: number,
): Promise<UserProject[]> {
  return projectsOf(db, userId)
    .where('project.slug', '=', slug)
    .$if(organizationId !== undefined, (query) =>
      query.where('project.organization_id', '=', organizationId as string),
    )
    .orderBy('organization.slug')
    .limit(limit)
    .execute();
}

// What a user can see: organizations they belong to, and their projects. Everything else does not exist for them.
import { sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';

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
      'organization.created_at',
      'organization.updated_at',
      'membership.role',
    ])
    .where('membership.user_id', '=', userId)
    .where('organization.deleted_at', 'is', null);
}
export type OrganizationOfUser = Awaited<ReturnType<typeof listOrganizationsOf>>[number];

/** By slug, after the slug `after`, with the user's role. */
export function listOrganizationsOf(db: Db, userId: string, { after = '', limit }: Page) {
  return organizationsOf(db, userId)
    .where('organization.slug', '>', after)
    .orderBy('organization.slug')
    .limit(limit)
    .execute();
}

export function findOrganizationOf(
  db: Db,
  userId: string,
  by: { id: string } | { slug: string },
): Promise<OrganizationOfUser | undefined> {
  const query = organizationsOf(db, userId);
  return (
    'id' in by ? query.where('organization.id', '=', by.id) : query.where('organization.slug', '=', by.slug)
  ).executeTakeFirst();
}

function projectsOf(db: Db, userId: string) {
  return db
    .selectFrom('membership')
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .innerJoin('project', 'project.organization_id', 'organization.id')
    .select([
      'project.id',
      'project.organization_id',
      'project.slug',
      'project.name',
      'project.description',
      'project.user_id',
      'project.created_at',
      'project.updated_at',
      'organization.slug as organization_slug',
      'membership.role',
    ])
    .where('membership.user_id', '=', userId)
    .where('organization.deleted_at', 'is', null)
    .where('project.deleted_at', 'is', null);
}
export type ProjectOfUser = NonNullable<Awaited<ReturnType<typeof findProjectOf>>>;

/** By the slugs of organization and project, after `after`: these two, joined by a slash. */
export function listProjectsOf(
  db: Db,
  userId: string,
  { after = '/', limit, organizationId }: Page & { organizationId?: string | undefined },
): Promise<ProjectOfUser[]> {
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

/** With the user's role in its organization. */
export function findProjectOf(db: Db, userId: string, id: string) {
  return projectsOf(db, userId).where('project.id', '=', id).executeTakeFirst();
}

/** The same; project and membership stay as they are, the organization there, before the transaction ends. */
export function lockProjectOf(tx: Tx, userId: string, id: string): Promise<ProjectOfUser | undefined> {
  return projectsOf(tx, userId)
    .where('project.id', '=', id)
    .forNoKeyUpdate('project')
    .forShare('membership')
    .executeTakeFirst();
}

/** At most one of each organization; with `organizationId`, of that one alone. */
export function listProjectsBySlug(
  db: Db,
  userId: string,
  slug: string,
  organizationId: string | undefined,
  limit: number,
): Promise<ProjectOfUser[]> {
  return projectsOf(db, userId)
    .where('project.slug', '=', slug)
    .$if(organizationId !== undefined, (query) =>
      query.where('project.organization_id', '=', organizationId as string),
    )
    .orderBy('organization.slug')
    .limit(limit)
    .execute();
}

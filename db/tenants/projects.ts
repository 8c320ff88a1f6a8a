// Projects of organizations.
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { type Db, inTransaction, type Tx } from '../connect.ts';
import {
  lockOrganization,
  membershipsOf,
  type Named,
  type Page,
  pickChanges,
  type Viewer,
} from './organizations.ts';

/** The projects a caller may access: the project of its API key, or those of the viewer's organizations. */
export type ProjectAccess = { projectId: string } | Viewer;

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

export type UserProject = NonNullable<Awaited<ReturnType<typeof findUserProject>>>;

/** Maximum number of projects of an organization that are not deleted. */
export const PROJECTS_MAX = 500;

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
  /** The user who creates it; absent for an operator. */
  userId?: string;
};

/**
 * Creates a project. Throws NOT_FOUND for an unknown organization, and CONFLICT when the slug is taken there or the
 * organization has the maximum number of projects.
 */
export function insertProject(db: Db | Tx, project: NewProject) {
  return inTransaction(db, (tx) => insertInto(tx, project));
}
export type ProjectRow = Awaited<ReturnType<typeof insertProject>>;

async function insertInto(tx: Tx, project: NewProject) {
  await lockOrganization(tx, project.organizationId);
  const { projects } = await tx
    .selectFrom('project')
    .select(sql<number>`count(*)::int`.as('projects'))
    .where('organization_id', '=', project.organizationId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (projects >= PROJECTS_MAX)
    throw new ServiceError(
      'CONFLICT',
      `An organization can have at most ${PROJECTS_MAX} projects: delete one first.`,
    );
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
  if (!row) throw projectSlugTaken(project.slug);
  return row;
}

export function projectSlugTaken(slug: string): ServiceError {
  return new ServiceError('CONFLICT', `The organization already has a project with the slug ${slug}.`);
}

/** Finds a project that is not deleted. */
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

/** Locks a project until the transaction ends. Throws NOT_FOUND. */
export async function lockProject(tx: Tx, id: string): Promise<void> {
  const row = await tx
    .selectFrom('project')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw projectNotFound();
}

/** Changes the fields that differ; returns whether any did. Throws NOT_FOUND. */
export async function updateProject(
  tx: Tx,
  id: string,
  named: Named,
): Promise<{ row: ProjectRow; changed: boolean }> {
  const row = await tx
    .selectFrom('project')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw projectNotFound();
  const changes = pickChanges(row, named);
  if (Object.keys(changes).length === 0) return { row, changed: false };
  const updated = await tx
    .updateTable('project')
    .set({ ...changes, updated_at: sql`now()` })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  return { row: updated, changed: true };
}

/**
 * Marks one or all projects of an organization as deleted, with their flows, and revokes their API keys; new runs are
 * rejected. Their slugs are free; rows of runs stay. Returns the projects' ids. The caller has locked the
 * organization.
 */
export async function deleteProjects(tx: Tx, organizationId: string, projectId?: string): Promise<string[]> {
  // This lock waits for runs that are being accepted, and blocks later ones.
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

export function projectNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such project.');
}

function projectsOf(db: Db, viewer: Viewer) {
  return db
    .selectFrom(membershipsOf(viewer))
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .innerJoin('project', 'project.organization_id', 'organization.id')
    .select([...PROJECT_COLUMNS, 'membership.role'])
    .where('organization.deleted_at', 'is', null)
    .where('project.deleted_at', 'is', null);
}

/**
 * Lists the projects of a viewer's organizations by the slugs of organization and project, starting after `after`: the
 * two slugs, joined by a slash. Others do not exist for a user.
 */
export function listUserProjects(
  db: Db,
  viewer: Viewer,
  { after = '/', limit, organizationId }: Page & { organizationId?: string | undefined },
): Promise<UserProject[]> {
  const [organization = '', project = ''] = after.split('/');
  return projectsOf(db, viewer)
    .where(sql<boolean>`(organization.slug, project.slug) > (${organization}, ${project})`)
    .$if(organizationId !== undefined, (query) =>
      query.where('project.organization_id', '=', organizationId as string),
    )
    .orderBy('organization.slug')
    .orderBy('project.slug')
    .limit(limit)
    .execute();
}

/** Finds such a project, with the viewer's role in its organization. */
export function findUserProject(db: Db, viewer: Viewer, id: string) {
  return projectsOf(db, viewer).where('project.id', '=', id).executeTakeFirst();
}

/** Finds such a project and locks it, with the membership, until the transaction ends. */
export function lockUserProject(tx: Tx, viewer: Viewer, id: string): Promise<UserProject | undefined> {
  return projectsOf(tx, viewer)
    .where('project.id', '=', id)
    .forNoKeyUpdate('project')
    .forShare('membership')
    .executeTakeFirst();
}

/** Lists a viewer's projects with a slug, one per organization; with `organizationId`, only of this organization. */
export function listUserProjectsBySlug(
  db: Db,
  viewer: Viewer,
  slug: string,
  organizationId: string | undefined,
  limit: number,
): Promise<UserProject[]> {
  return projectsOf(db, viewer)
    .where('project.slug', '=', slug)
    .$if(organizationId !== undefined, (query) =>
      query.where('project.organization_id', '=', organizationId as string),
    )
    .orderBy('organization.slug')
    .limit(limit)
    .execute();
}

/** Whether a caller may access a project, as a condition of a query over `project`. */
export function hasProjectAccess(access: ProjectAccess) {
  if ('projectId' in access) return sql<boolean>`project.id = ${access.projectId}`;
  if (access.isOperator) return sql<boolean>`true`;
  return sql<boolean>`exists (
      select from membership
      where membership.organization_id = project.organization_id and membership.user_id = ${access.userId}
    )`;
}

// The endpoints of projects.
import { z } from 'zod';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { findUserOrganization, organizationNotFound } from '../../db/tenants/organizations.ts';
import {
  listUserProjects,
  listUserProjectsBySlug,
  PROJECTS_MAX,
  projectNotFound,
  projectSlugTaken,
  updateProject,
} from '../../db/tenants/projects.ts';
import { ServiceError } from '../../flow/errors.ts';
import { SLUG_PATTERN, UUID_PATTERN } from '../../flow/limits.ts';
import { cancelDeleted } from '../../temporal/cancel-workflow.ts';
import { identifyUser } from '../auth/authenticate.ts';
import { authorizeBy, loadProject, requireRole, writeAuthorized } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import { pageQuery, toPage } from '../http/page.ts';
import { viewerOfLists } from '../http/principal.ts';
import { readQuery } from '../http/query.ts';
import * as example from '../reference/management-examples.ts';
import {
  CALLER_ERRORS,
  conflict,
  DELETION,
  deleted,
  PROJECTS_PATH,
  RESOURCE_ERRORS,
  ROLE_ERRORS,
  USERS_ONLY,
} from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, VALIDATION_ERRORS } from '../reference/operations.ts';
import { addProject, removeProject } from './recorded-organizations.ts';
import { createProjectRequest, projectList, projectRecord, updateProjectRequest } from './schemas.ts';
import { toProject } from './to-records.ts';

/** Maximum number of organizations that the response names when a slug is ambiguous. */
const SAME_SLUG_MAX = 20;

const ofOrganization = z
  .uuid('must be the id of an organization')
  .optional()
  .meta({ description: 'Only the projects of this organization.' });

const bySlugQuery = z.strictObject({ organization_id: ofOrganization });

const PROJECT_PATH = `${PROJECTS_PATH}/:project_id`;
const listQuery = pageQuery(
  z.string().regex(/^[a-z0-9-]+\/[a-z0-9-]+$/, 'must be a nextCursor of this list'),
).extend({
  organization_id: ofOrganization,
});
const common = { tags: ['Projects'], security: USERS_ONLY };
const one = answer('The project.', projectRecord, { project: example.project });

export function projectRoutes(deps: ApiDeps): Route[] {
  const first = identifyUser(deps);
  return [
    {
      method: 'post',
      path: PROJECTS_PATH,
      operation: {
        ...common,
        operationId: 'createProject',
        summary: 'Create a project (owners and admins)',
        requestBody: body(createProjectRequest, { project: example.newProject }),
        responses: {
          201: one,
          ...ROLE_ERRORS,
          ...conflict(
            `The slug is taken, or the organization has ${PROJECTS_MAX} projects.`,
            projectSlugTaken(example.newProject.slug).message,
          ),
          ...BODY_ERRORS,
        },
      },
      handlers: [
        ...first,
        readBody(deps, createProjectRequest),
        takeIdempotencyKey(deps),
        createProject(deps),
      ],
    },
    {
      method: 'get',
      path: PROJECTS_PATH,
      operation: {
        ...common,
        operationId: 'listProjects',
        summary: 'List the projects you can see, by the slugs of organization and project',
        requestParams: { query: listQuery },
        responses: {
          200: answer('A page of projects.', projectList, { page: example.projectPage }),
          ...CALLER_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...first, readQuery(listQuery), listProjects(deps)],
    },
    {
      method: 'get',
      path: `${PROJECTS_PATH}/by-slug/:slug`,
      operation: {
        ...common,
        operationId: 'getProjectBySlug',
        summary: 'Get a project by its slug',
        description:
          'A slug is unique within an organization only: if you belong to several, send `organization_id`.',
        requestParams: { query: bySlugQuery },
        responses: {
          200: one,
          ...RESOURCE_ERRORS,
          ...conflict(
            'Several of your organizations have such a project; `detail.organization_ids` names them.',
            ambiguousSlug(example.newProject.slug),
          ),
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...first, readQuery(bySlugQuery), getProjectBySlug(deps)],
    },
    {
      method: 'get',
      path: PROJECT_PATH,
      operation: {
        ...common,
        operationId: 'getProject',
        summary: 'Get a project',
        responses: { 200: one, ...RESOURCE_ERRORS },
      },
      handlers: [...first, loadProject(deps, 'member'), getProject],
    },
    {
      method: 'put',
      path: PROJECT_PATH,
      operation: {
        ...common,
        operationId: 'updateProject',
        summary: 'Change the name or description (owners and admins)',
        requestBody: body(updateProjectRequest, { name: example.renaming }),
        responses: { 200: one, ...ROLE_ERRORS, ...BODY_ERRORS },
      },
      handlers: [
        ...first,
        loadProject(deps, 'admin'),
        readBody(deps, updateProjectRequest),
        putProject(deps),
      ],
    },
    {
      method: 'delete',
      path: PROJECT_PATH,
      operation: {
        ...common,
        operationId: 'deleteProject',
        summary: 'Delete a project with its flows (owners and admins)',
        description: DELETION,
        responses: { 200: deleted(example.deletedProject), ...ROLE_ERRORS },
      },
      handlers: [...first, loadProject(deps, 'admin'), deleteProject(deps)],
    },
  ];
}

function createProject(deps: ApiDeps): ApiMiddleware {
  return async function createProject(ctx) {
    const request = ctx.state.body as z.infer<typeof createProjectRequest>;
    const { name, slug, description, organization_id: id } = request;
    const { user } = ctx.state;
    if (!UUID_PATTERN.test(id)) throw organizationNotFound();
    const { organizationId } = await authorizeBy(ctx.state, deps, async (db) => {
      const organization = await findUserOrganization(db, user, { id });
      if (!organization) throw organizationNotFound();
      requireRole(organization.role, 'admin');
      return { organizationId: organization.id, role: organization.role };
    });
    const project = {
      organizationId,
      ...(!user.operatorKey && { userId: user.userId }),
      name,
      slug,
      description,
    };
    const row = await writeAuthorized(deps.db, ctx.state, (tx, author) => addProject(tx, author, project));
    ctx.status = 201;
    ctx.body = toProject(row);
  };
}

function listProjects({ db }: ApiDeps): ApiMiddleware {
  return async function listProjects(ctx) {
    const { limit, cursor, organization_id } = ctx.state.query as z.infer<typeof listQuery>;
    const page = { after: cursor, limit: limit + 1, organizationId: organization_id };
    const { user } = ctx.state;
    const viewer = organization_id === undefined ? viewerOfLists(user) : user;
    const rows = await listUserProjects(db, viewer, page);
    const { page: shown, end } = toPage(rows, limit, (row) => `${row.organization_slug}/${row.slug}`);
    ctx.body = { projects: shown.map(toProject), ...end };
  };
}

const getProject: ApiMiddleware = async (ctx) => {
  ctx.body = toProject(ctx.state.project);
};

function putProject(deps: ApiDeps): ApiMiddleware {
  return async function putProject(ctx) {
    const { id, organization_id } = ctx.state.project;
    const { name, description } = ctx.state.body as z.infer<typeof updateProjectRequest>;
    const row = await writeAuthorized(deps.db, ctx.state, async (tx, author) => {
      const { row: updated, changed } = await updateProject(tx, id, { name, description });
      const details = { name: updated.name, description: updated.description };
      if (!changed) return updated;
      await recordChange(tx, author, {
        organizationId: organization_id,
        action: 'project.update',
        resourceId: id,
        details,
      });
      return updated;
    });
    ctx.body = toProject(row);
  };
}

function deleteProject(deps: ApiDeps): ApiMiddleware {
  return async function deleteProject(ctx) {
    const { id, organization_id: organizationId } = ctx.state.project;
    const { projectIds, cancelled } = await writeAuthorized(deps.db, ctx.state, (tx, author) =>
      removeProject(tx, author, organizationId, id),
    );
    await cancelDeleted(deps, projectIds);
    ctx.body = { id, cancelled };
  };
}

/** Answers with the caller’s project by its slug; 409 when several of the caller’s organizations have one. */
function getProjectBySlug({ db }: ApiDeps): ApiMiddleware {
  return async function getProjectBySlug(ctx) {
    const { slug = '' } = ctx.params;
    const { organization_id } = ctx.state.query as z.infer<typeof bySlugQuery>;
    const { user } = ctx.state;
    const viewer = organization_id === undefined ? viewerOfLists(user) : user;
    const rows = SLUG_PATTERN.test(slug)
      ? await listUserProjectsBySlug(db, viewer, slug, organization_id, SAME_SLUG_MAX)
      : [];
    const [project, ...others] = rows;
    if (!project) throw projectNotFound();
    if (others.length > 0)
      throw new ServiceError('CONFLICT', ambiguousSlug(slug), {
        organization_ids: rows.map((row) => row.organization_id),
      });
    ctx.body = toProject(project);
  };
}

function ambiguousSlug(slug: string): string {
  return `Several of your organizations have a project with the slug ${slug}: send organization_id.`;
}

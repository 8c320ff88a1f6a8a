// The management API: organizations, members, projects, API keys, model keys and the audit log. Users call it with
// JWTs. Every write authorizes again in its own transaction and records itself in the audit log. Writes shared with
// operators are in files recorded-….ts. This file has the endpoints of organizations.
import type { z } from 'zod';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { insertMember, ORGANIZATIONS_OWNED_MAX, requireFewOwned } from '../../db/tenants/memberships.ts';
import {
  findUserOrganization,
  listUserOrganizations,
  organizationNotFound,
  organizationSlugTaken,
  updateOrganization,
} from '../../db/tenants/organizations.ts';
import { SLUG_PATTERN } from '../../flow/limits.ts';
import { cancelDeleted } from '../../temporal/cancel-workflow.ts';
import { identifyPerson, identifyUser } from '../auth/authenticate.ts';
import { authorizeOrganization, writeAuthorized } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import { slugSchema } from '../flows/written-flow.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import { type PageQuery, pageQuery, toPage } from '../http/page.ts';
import { viewerOfLists } from '../http/principal.ts';
import { readQuery } from '../http/query.ts';
import * as example from '../reference/management-examples.ts';
import {
  CALLER_ERRORS,
  conflict,
  DELETION,
  deleted,
  ORGANIZATIONS_PATH,
  RESOURCE_ERRORS,
  ROLE_ERRORS,
  USERS_ONLY,
} from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, VALIDATION_ERRORS } from '../reference/operations.ts';
import { addOrganization, addStartingCredits, removeOrganization } from './recorded-organizations.ts';
import {
  createOrganizationRequest,
  organizationList,
  organizationRecord,
  updateOrganizationRequest,
} from './schemas.ts';
import { toOrganization } from './to-records.ts';

const ORGANIZATION_PATH = `${ORGANIZATIONS_PATH}/:org_id`;
const listQuery = pageQuery(slugSchema);
const common = { tags: ['Organizations'], security: USERS_ONLY };
const one = answer('The organization.', organizationRecord, { organization: example.organization });

export function organizationRoutes(deps: ApiDeps): Route[] {
  const first = identifyUser(deps);
  return [
    {
      method: 'post',
      path: ORGANIZATIONS_PATH,
      operation: {
        ...common,
        operationId: 'createOrganization',
        summary: 'Create an organization, of which you become the owner',
        description:
          'Runs need credits. Your first organization starts with the welcome credits of the service, if any. An operator of the service grants more (`credits/grants`).',
        requestBody: body(createOrganizationRequest, { organization: example.newOrganization }),
        responses: {
          201: one,
          ...CALLER_ERRORS,
          ...conflict(
            `The slug is taken, or you own ${ORGANIZATIONS_OWNED_MAX} organizations.`,
            organizationSlugTaken(example.newOrganization.slug).message,
          ),
          ...BODY_ERRORS,
        },
      },
      handlers: [
        ...identifyPerson(deps),
        readBody(deps, createOrganizationRequest),
        takeIdempotencyKey(deps),
        createOrganization(deps),
      ],
    },
    {
      method: 'get',
      path: ORGANIZATIONS_PATH,
      operation: {
        ...common,
        operationId: 'listOrganizations',
        summary: 'List the organizations you belong to, by slug',
        requestParams: { query: listQuery },
        responses: {
          200: answer('A page of organizations.', organizationList, { page: example.organizationPage }),
          ...CALLER_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...first, readQuery(listQuery), listOrganizations(deps)],
    },
    {
      method: 'get',
      path: `${ORGANIZATIONS_PATH}/by-slug/:slug`,
      operation: {
        ...common,
        operationId: 'getOrganizationBySlug',
        summary: 'Get an organization by its slug',
        responses: { 200: one, ...RESOURCE_ERRORS },
      },
      handlers: [...first, getOrganizationBySlug(deps)],
    },
    {
      method: 'get',
      path: ORGANIZATION_PATH,
      operation: {
        ...common,
        operationId: 'getOrganization',
        summary: 'Get an organization',
        responses: { 200: one, ...RESOURCE_ERRORS },
      },
      handlers: [...first, authorizeOrganization(deps, { role: 'member' }), getOrganization(deps)],
    },
    {
      method: 'put',
      path: ORGANIZATION_PATH,
      operation: {
        ...common,
        operationId: 'updateOrganization',
        summary: 'Change the name or description (owners and admins)',
        requestBody: body(updateOrganizationRequest, { name: example.renaming }),
        responses: { 200: one, ...ROLE_ERRORS, ...BODY_ERRORS },
      },
      handlers: [
        ...first,
        authorizeOrganization(deps, { role: 'admin' }),
        readBody(deps, updateOrganizationRequest),
        putOrganization(deps),
      ],
    },
    {
      method: 'delete',
      path: ORGANIZATION_PATH,
      operation: {
        ...common,
        operationId: 'deleteOrganization',
        summary: 'Delete an organization with its projects and flows (owners)',
        description: DELETION,
        responses: { 200: deleted(example.deletedOrganization), ...ROLE_ERRORS },
      },
      handlers: [...first, authorizeOrganization(deps, { role: 'owner' }), deleteOrganization(deps)],
    },
  ];
}

function createOrganization(deps: ApiDeps): ApiMiddleware {
  return async function createOrganization(ctx) {
    const { name, slug, description } = ctx.state.body as z.infer<typeof createOrganizationRequest>;
    const row = await writeAuthorized(deps.db, ctx.state, async (tx, author) => {
      await requireFewOwned(tx, ctx.state.user.userId);
      const created = await addOrganization(tx, author, { name, slug, description });
      const member = { organizationId: created.id, userId: ctx.state.user.userId };
      await insertMember(tx, { ...member, role: 'owner' });
      const credits = deps.config.startingCredits;
      const balance_microcredits = await addStartingCredits(tx, author, { ...member, credits });
      return { ...created, balance_microcredits };
    });
    ctx.status = 201;
    ctx.body = toOrganization({ ...row, role: 'owner' });
  };
}

function listOrganizations({ db }: ApiDeps): ApiMiddleware {
  return async function listOrganizations(ctx) {
    const { limit, cursor } = ctx.state.query as PageQuery;
    const rows = await listUserOrganizations(db, viewerOfLists(ctx.state.user), {
      after: cursor,
      limit: limit + 1,
    });
    const { page, end } = toPage(rows, limit, ({ slug }) => slug);
    ctx.body = { organizations: page.map(toOrganization), ...end };
  };
}

function getOrganizationBySlug({ db }: ApiDeps): ApiMiddleware {
  return async function getOrganizationBySlug(ctx) {
    const { slug = '' } = ctx.params;
    const row = SLUG_PATTERN.test(slug)
      ? await findUserOrganization(db, ctx.state.user, { slug })
      : undefined;
    if (!row) throw organizationNotFound();
    ctx.body = toOrganization(row);
  };
}

function getOrganization({ db }: ApiDeps): ApiMiddleware {
  return async function getOrganization(ctx) {
    const id = ctx.state.membership.organizationId;
    const row = await findUserOrganization(db, ctx.state.user, { id });
    if (!row) throw organizationNotFound();
    ctx.body = toOrganization(row);
  };
}

function putOrganization(deps: ApiDeps): ApiMiddleware {
  return async function putOrganization(ctx) {
    const { organizationId, role } = ctx.state.membership;
    const { name, description } = ctx.state.body as z.infer<typeof updateOrganizationRequest>;
    const row = await writeAuthorized(deps.db, ctx.state, async (tx, author) => {
      const { row: updated, changed } = await updateOrganization(tx, organizationId, { name, description });
      const details = { name: updated.name, description: updated.description };
      if (!changed) return updated;
      await recordChange(tx, author, {
        organizationId,
        action: 'organization.update',
        resourceId: organizationId,
        details,
      });
      return updated;
    });
    ctx.body = toOrganization({ ...row, role });
  };
}

function deleteOrganization(deps: ApiDeps): ApiMiddleware {
  return async function deleteOrganization(ctx) {
    const { organizationId } = ctx.state.membership;
    const { projectIds, cancelled } = await writeAuthorized(deps.db, ctx.state, (tx, author) =>
      removeOrganization(tx, author, organizationId),
    );
    await cancelDeleted(deps, projectIds);
    ctx.body = { id: organizationId, cancelled };
  };
}

// GET /me: the caller, and the ids and slugs of what the caller can reach.
import type { z } from 'zod';
import type { Db } from '../../db/connect.ts';
import { KEY_SCOPES } from '../../db/tables/access.ts';
import { getKeyDetails } from '../../db/tenants/api-keys.ts';
import { listInvitationsOf } from '../../db/tenants/invitations.ts';
import { listUserOrganizations } from '../../db/tenants/organizations.ts';
import { listUserProjects, type UserProject } from '../../db/tenants/projects.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { verifiedAddress } from '../auth/user-identifiers.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { toPage } from '../http/page.ts';
import type { KeyPrincipal, Principal, UserPrincipal } from '../http/principal.ts';
import { me } from '../reference/management-examples.ts';
import { answer, COMMON_ERRORS } from '../reference/operations.ts';
import { meRecord } from './me-schema.ts';

export const ORGANIZATIONS_MAX = 200;
export const PROJECTS_MAX = 200;
export const INVITATIONS_MAX = 20;

type Me = z.input<typeof meRecord>;

export function meRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: '/api/v1/me',
      operation: {
        operationId: 'getMe',
        summary: 'Get who you are, and the ids of what you can reach',
        description:
          'For a user: the organizations and their projects. For an API key: its organization and project.',
        tags: ['Members'],
        responses: { 200: answer('The caller.', meRecord, me), ...COMMON_ERRORS },
      },
      handlers: [...identifyCaller(deps, ...KEY_SCOPES), getMe(deps)],
    },
  ];
}

function getMe(deps: ApiDeps): ApiMiddleware {
  return async function getMe(ctx) {
    const { principal } = ctx.state;
    ctx.body = await describeCaller(deps, principal);
  };
}

async function describeCaller(deps: ApiDeps, principal: Principal): Promise<Me> {
  if (principal.kind === 'key') return describeKey(deps, principal);
  const { operatorKey: key } = principal;
  return key ? { kind: 'operator', keyId: key.key_id, name: key.name } : describeUser(deps, principal);
}

async function describeUser({ db }: ApiDeps, user: UserPrincipal): Promise<Me> {
  const { userId, profile } = user;
  const organizations = await listUserOrganizations(db, { userId }, { limit: ORGANIZATIONS_MAX + 1 });
  const projects = await listUserProjects(db, { userId }, { limit: PROJECTS_MAX + 1 });
  const { page: shown, end } = toPage(organizations, ORGANIZATIONS_MAX, ({ slug }) => slug);
  const projectsOf = Map.groupBy(projects.slice(0, PROJECTS_MAX), (project) => project.organization_id);
  return {
    kind: 'user',
    userId,
    ...profile,
    organizations: shown.map(({ id, slug, name, role }) => ({
      id,
      slug,
      name,
      role,
      projects: (projectsOf.get(id) ?? []).map(toNamed),
    })),
    invitations: await describeInvitations(db, user),
    operator: user.isOperator === true,
    hasMore: end.hasMore || projects.length > PROJECTS_MAX,
  };
}

async function describeInvitations(db: Db, { userId, profile }: UserPrincipal) {
  const email = verifiedAddress(profile);
  const rows = email === undefined ? [] : await listInvitationsOf(db, { email, userId }, INVITATIONS_MAX);
  return rows.map(({ id, organization_id, slug, name, role, invited_by, inviter, expires_at }) => ({
    id,
    organization: { id: organization_id, slug, name },
    role,
    invitedBy: invited_by,
    inviterName: inviter,
    expiresAt: expires_at.toISOString(),
  }));
}

function toNamed({ id, slug, name }: UserProject) {
  return { id, slug, name };
}

async function describeKey({ db }: ApiDeps, { key }: KeyPrincipal): Promise<Me> {
  const row = await getKeyDetails(db, key.id);
  return {
    kind: 'api_key',
    keyId: row.key_id,
    name: row.name,
    environment: row.environment,
    scopes: row.scopes,
    expiresAt: row.expires_at?.toISOString() ?? null,
    organization: { id: row.organization_id, slug: row.organization_slug, name: row.organization_name },
    project: { id: row.project_id, slug: row.project_slug, name: row.project_name },
  };
}

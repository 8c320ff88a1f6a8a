import type { Role } from '../../db/schema.ts';
import type { ApiKeyRow } from '../../db/tenants/api-keys.ts';
import type { AuditEntryRow } from '../../db/tenants/audit-entries.ts';
import type { AssistantRow } from '../../db/tenants/connected-assistants.ts';
import type { MemberRow } from '../../db/tenants/memberships.ts';
import { idsOf, type NamedResource } from '../../db/tenants/name-resources.ts';
import type { OperatorKeyRow } from '../../db/tenants/operator-keys.ts';
import type { UserOrganization } from '../../db/tenants/organizations.ts';
import type { ProjectRow } from '../../db/tenants/projects.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';

/** Describes an API key for responses and the `weir` command. */
export function toApiKey(row: ApiKeyRow) {
  return {
    keyId: row.key_id,
    projectId: row.project_id,
    environment: row.environment,
    name: row.name,
    scopes: row.scopes,
    state: stateOf(row),
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}

function stateOf(row: ApiKeyRow): 'revoked' | 'expired' | 'active' {
  if (row.revoked_at) return 'revoked';
  return row.expires_at && row.expires_at <= new Date() ? 'expired' : 'active';
}

/** Describes a connected assistant for responses and the `weir` command. */
export function toAssistant(row: AssistantRow) {
  return {
    id: row.id,
    clientId: row.client_id === '' ? null : row.client_id,
    name: row.name,
    scopes: row.scopes,
    consentedAt: row.consented_at.toISOString(),
    firstUsedAt: row.first_used_at.toISOString(),
    lastUsedAt: row.last_used_at.toISOString(),
  };
}

/** Describes an entry of the audit log for responses and the `weir` command. */
export function toAuditEntry(row: AuditEntryRow, named: ReadonlyMap<string, NamedResource>) {
  const place = idsOf(row)
    .map((id) => named.get(id))
    .find((resource) => resource?.project !== undefined);
  return {
    id: row.entry_id,
    at: row.at,
    actor: row.actor,
    actorName: row.name,
    actorEmail: row.email,
    action: row.action,
    resourceId: row.resource_id,
    resourceName: named.get(row.resource_id)?.name ?? null,
    project: place?.project ?? null,
    flow: place?.flow ?? null,
    details: row.details,
    requestId: row.request_id,
    ...(row.trace_id !== null && { traceId: row.trace_id }),
  };
}

/** Describes a member for responses and the `weir` command. */
export function toMember(row: MemberRow) {
  return {
    organizationId: row.organization_id,
    user_id: row.user_id,
    role: row.role,
    name: row.name,
    email: row.email,
    emailVerified: row.email_verified ?? false,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Describes an operator's key for responses and the `weir` command. */
export function toOperatorKey(row: OperatorKeyRow) {
  return {
    keyId: row.key_id,
    name: row.name,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    revokedBy: row.revoked_by,
  };
}

/** Describes an organization for responses and the `weir` command, with the caller's role, if any. */
export function toOrganization(row: Omit<UserOrganization, 'role'> & { role?: Role }) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    ...(row.role && { role: row.role }),
    credits: row.balance_microcredits / MICROCREDITS_PER_CREDIT,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Describes a project for responses and the `weir` command. */
export function toProject(row: ProjectRow) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    organizationId: row.organization_id,
    userId: row.user_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

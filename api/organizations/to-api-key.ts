import type { ApiKeyRow } from '../../db/tenants/api-keys.ts';

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

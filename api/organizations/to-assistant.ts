import type { AssistantRow } from '../../db/tenants/connected-assistants.ts';

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

import type { AuditEntryRow } from '../../db/tenants/audit-entries.ts';

/** Describes an entry of the audit log for responses and the `weir` command. */
export function toAuditEntry(row: AuditEntryRow) {
  return {
    at: row.at,
    actor: row.actor,
    actorName: row.name,
    actorEmail: row.email,
    action: row.action,
    resourceId: row.resource_id,
    details: row.details,
    requestId: row.request_id,
    ...(row.trace_id !== null && { traceId: row.trace_id }),
  };
}

// Who changed what: one entry per management write, in the transaction that does it.
import type { Json } from '../flow/definition.ts';
import type { Db, Tx } from './connect.ts';

export type NewAuditEntry = {
  organizationId: string;
  /** A user id, or `api_key/{key_id}`. */
  actor: string;
  /** `resource.verb`, such as `api_key.revoke`. */
  action: string;
  resourceId: string;
  /** What was set; never a secret. */
  details?: { [field: string]: Json };
  requestId: string;
};

export async function insertAuditEntry(tx: Tx, entry: NewAuditEntry): Promise<void> {
  await tx
    .insertInto('audit_entry')
    .values({
      organization_id: entry.organizationId,
      actor: entry.actor,
      action: entry.action,
      resource_id: entry.resourceId,
      details: JSON.stringify(entry.details ?? {}),
      request_id: entry.requestId,
    })
    .execute();
}

/** Newest first; `before`: the id of an entry, or the time of one. */
export function listAuditEntries(
  db: Db,
  organizationId: string,
  { before, limit }: { before?: number | Date | undefined; limit: number },
) {
  return db
    .selectFrom('audit_entry')
    .select(['id', 'actor', 'action', 'resource_id', 'details', 'request_id', 'created_at'])
    .where('organization_id', '=', organizationId)
    .$if(typeof before === 'number', (query) => query.where('id', '<', before as number))
    .$if(before instanceof Date, (query) => query.where('created_at', '<', before as Date))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
export type AuditEntryRow = Awaited<ReturnType<typeof listAuditEntries>>[number];

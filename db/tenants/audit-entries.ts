// Who changed what: one entry per management write, in the transaction that does it.
import { sql } from 'kysely';
import type { Json } from '../../flow/definition.ts';
import type { Db, Tx } from '../connect.ts';

export type NewAuditEntry = {
  organizationId: string;
  /** A user id, `api_key/{key_id}`, `operator`, or `service` for what it did by itself. */
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

/** Newest first, made before a time in microseconds since 1970; `at` is in UTC, to the microsecond. */
export function listAuditEntries(
  db: Db,
  organizationId: string,
  { beforeUs, limit }: { beforeUs?: bigint | undefined; limit: number },
) {
  return db
    .selectFrom('audit_entry')
    .select(['actor', 'action', 'resource_id', 'details', 'request_id'])
    .select(sql<string>`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.as('at'))
    .where('organization_id', '=', organizationId)
    .$if(beforeUs !== undefined, (query) =>
      query.where(
        'created_at',
        '<',
        sql<Date>`timestamptz 'epoch' + ${String(beforeUs)}::bigint * interval '1 microsecond'`,
      ),
    )
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute();
}
export type AuditEntryRow = Awaited<ReturnType<typeof listAuditEntries>>[number];

// The audit log: who changed what, one entry per management write, in the transaction of the write.
import { sql } from 'kysely';
import type { Json } from '../../flow/definition.ts';
import { currentTrace, traceIdOf } from '../../platform/observability/tracing.ts';
import type { Db, Tx } from '../connect.ts';

/** The author of a change, and its request. */
export type Author = {
  /** A user id, `api_key/{key_id}`, `operator/{key_id}`, or `service` for changes by the service itself. */
  actor: string;
  requestId: string;
};

type AuditedChange = {
  organizationId: string;
  /** `resource.verb`, such as `api_key.revoke`. */
  action: string;
  resourceId: string;
  /** The values that were set; never a secret. */
  details?: { [field: string]: Json };
};

/** Records a change in the audit log, in the transaction `tx` that makes it. */
export async function recordChange(
  tx: Tx,
  { actor, requestId }: Author,
  change: AuditedChange,
): Promise<void> {
  await tx
    .insertInto('audit_entry')
    .values({
      organization_id: change.organizationId,
      actor,
      action: change.action,
      resource_id: change.resourceId,
      details: JSON.stringify(change.details ?? {}),
      request_id: requestId,
      trace_id: traceIdOf(currentTrace()) ?? null,
    })
    .execute();
}

/** Records a change that concerns a user in the audit log of each organization that the user belongs to. */
export async function recordUserChange(
  tx: Tx,
  { actor, requestId }: Author,
  { userId, action, resourceId, details }: Omit<AuditedChange, 'organizationId'> & { userId: string },
): Promise<void> {
  await tx
    .insertInto('audit_entry')
    .columns(['organization_id', 'actor', 'action', 'resource_id', 'details', 'request_id', 'trace_id'])
    .expression((eb) =>
      eb
        .selectFrom('membership')
        .innerJoin('organization', 'organization.id', 'membership.organization_id')
        .select([
          'organization.id',
          eb.val(actor).as('actor'),
          eb.val(action).as('action'),
          eb.val(resourceId).as('resource_id'),
          sql<never>`${JSON.stringify(details ?? {})}::json`.as('details'),
          eb.val(requestId).as('request_id'),
          sql<string | null>`${traceIdOf(currentTrace()) ?? null}::text`.as('trace_id'),
        ])
        .where('membership.user_id', '=', userId)
        .where('organization.deleted_at', 'is', null),
    )
    .execute();
}

/** Filter of entries, which must meet every given condition; `since` and `beforeUs` are times. */
export type AuditFilter = {
  actor?: string | undefined;
  action?: string | undefined;
  since?: Date | undefined;
  /** In microseconds since 1970. */
  beforeUs?: bigint | undefined;
};

/** Lists entries, newest first, with the actor's name and e-mail address; `at` is in UTC, to the microsecond. */
export function listAuditEntries(
  db: Db,
  organizationId: string,
  { actor, action, since, beforeUs, limit }: AuditFilter & { limit: number },
) {
  return db
    .selectFrom('audit_entry')
    .leftJoin('member_profile as profile', (join) =>
      join
        .onRef('profile.organization_id', '=', 'audit_entry.organization_id')
        .onRef('profile.user_id', '=', 'audit_entry.actor'),
    )
    .select([
      'entry_id',
      'actor',
      'action',
      'resource_id',
      'details',
      'request_id',
      'trace_id',
      'profile.name',
      'profile.email',
    ])
    .select(sql<string>`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.as('at'))
    .where('audit_entry.organization_id', '=', organizationId)
    .$if(actor !== undefined, (query) => query.where('actor', '=', actor as string))
    .$if(action !== undefined, (query) => query.where('action', '=', action as string))
    .$if(since !== undefined, (query) => query.where('created_at', '>=', since as Date))
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

// Deliveries and attempts for the members of an organization.
import { type RawBuilder, sql } from 'kysely';
import { type DeliveryStatus, OPEN_STATUSES, type WebhookEvent } from '../../flow/delivery.ts';
import type { Db, Tx } from '../connect.ts';
import { versionOfRun } from '../runs/run-columns.ts';
import type { ProjectAccess } from '../tenants/projects.ts';

const DELETED = 'The project or organization was deleted before the delivery was made.';

const COLUMNS = [
  'id',
  'seq',
  'execution_id',
  'event_type',
  'target_url',
  'status',
  'attempt',
  'response_status',
  'last_attempted_at',
  'next_attempt_at',
  'error_message',
  'created_at',
] as const;

/**
 * A position in the list of deliveries: a `created_at` in whole milliseconds, and a number within the same
 * millisecond.
 */
export type DeliveryPlace = { createdAt: Date; seq: number };

/** Filter of deliveries, which must meet every given condition. */
export type DeliveryFilter = {
  status?: DeliveryStatus | undefined;
  event?: WebhookEvent | undefined;
  executionId?: string | undefined;
  /** The project of the run. */
  projectId?: string | undefined;
};

/** Lists the organization's deliveries before a position, newest first. */
export function listDeliveries(
  db: Db,
  {
    organizationId,
    before,
    limit,
    status,
    event,
    executionId,
    projectId,
  }: DeliveryFilter & { organizationId: string; before?: DeliveryPlace | undefined; limit: number },
) {
  return db
    .selectFrom('webhook_delivery')
    .select(COLUMNS)
    .where('organization_id', '=', organizationId)
    .$if(status !== undefined, (query) => query.where('status', '=', status as DeliveryStatus))
    .$if(event !== undefined, (query) => query.where('event_type', '=', event as WebhookEvent))
    .$if(executionId !== undefined, (query) => query.where('execution_id', '=', executionId as string))
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId as string))
    .$if(before !== undefined, (query) =>
      query.where(sql<boolean>`(created_at, seq) < (${before?.createdAt}, ${before?.seq})`),
    )
    .orderBy('created_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
}
export type DeliveryRow = Awaited<ReturnType<typeof listDeliveries>>[number];

/** Finds a delivery of the organization; with `projectId`, only one of that project. */
export function findDelivery(
  db: Db,
  organizationId: string,
  id: string,
  projectId?: string,
): Promise<DeliveryRow | undefined> {
  return db
    .selectFrom('webhook_delivery')
    .select(COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId as string))
    .executeTakeFirst();
}

/** The attempts of the rounds that are kept (open-deliveries.ts). */
const ATTEMPTS_LISTED_MAX = 120;

/** Lists the last 120 attempts of a delivery, in order. */
export async function listAttempts(db: Db, deliveryId: string) {
  const newestFirst = await db
    .selectFrom('webhook_attempt')
    .select([
      'round',
      'attempt',
      'started_at',
      'duration_ms',
      'request_headers',
      'response_status',
      'response_body',
      'error_message',
    ])
    .where('delivery_id', '=', deliveryId)
    .orderBy('round', 'desc')
    .orderBy('attempt', 'desc')
    .limit(ATTEMPTS_LISTED_MAX)
    .execute();
  return newestFirst.reverse();
}

/**
 * Finds the body of a delivery as it is sent, null before its first attempt. Undefined for an API key when the run is of
 * another project than the key. Operators, who have no `access`, see every body.
 */
export async function findRequestBody(
  db: Db,
  id: string,
  access?: ProjectAccess,
): Promise<string | null | undefined> {
  const row = await db
    .selectFrom('webhook_delivery')
    .select(['body', 'project_id'])
    .where('id', '=', id)
    .executeTakeFirst();
  const ofKey = access && 'projectId' in access ? access.projectId : undefined;
  // A test delivery is of no project: every key of the organization may see its body.
  const isForeign = ofKey !== undefined && row?.project_id && row.project_id !== ofKey;
  return isForeign ? undefined : (row?.body ?? null);
}

/** Lists the deliveries that report the end of a run; none when its caller did not ask for that event. */
export function listRunDeliveries(db: Db, executionId: string) {
  return db
    .selectFrom('webhook_delivery')
    .select(['id', 'event_type', 'status'])
    .where('execution_id', '=', executionId)
    .execute();
}

/**
 * Gets the slug of a delivery's organization, and the flow, version, mode, environment and trace of the run that it
 * reports; a test delivery has no run.
 */
export async function getDeliveryOrigin(db: Db, deliveryId: string) {
  const { organization, ...run } = await db
    .selectFrom('webhook_delivery')
    .innerJoin('organization', 'organization.id', 'webhook_delivery.organization_id')
    .leftJoin('run', 'run.execution_id', 'webhook_delivery.execution_id')
    .leftJoin('project', 'project.id', 'run.project_id')
    .leftJoin('flow', 'flow.id', 'run.flow_id')
    .leftJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
    .select([
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
      versionOfRun().as('version'),
      'run.mode',
      'run.environment',
      'run.trace_context as trace',
    ])
    .where('webhook_delivery.id', '=', deliveryId)
    .executeTakeFirstOrThrow();
  const { project, flow, version, mode, environment, trace } = run;
  if (project === null || flow === null || mode === null || environment === null) return { organization };
  return { organization, project, flow, version, mode, environment, trace };
}

/**
 * Ends the open deliveries that match `which`, a condition of a query over `webhook_delivery`; returns the number.
 */
export async function cancelDeliveries(db: Db | Tx, which: RawBuilder<unknown>): Promise<number> {
  const { numUpdatedRows } = await db
    .with('open', (delivery) =>
      delivery
        .selectFrom('webhook_delivery')
        .select('id')
        .where('status', 'in', OPEN_STATUSES)
        .where(sql<boolean>`${which}`)
        .orderBy('id')
        .forNoKeyUpdate(),
    )
    .updateTable('webhook_delivery')
    .from('open')
    .whereRef('webhook_delivery.id', '=', 'open.id')
    .set({ status: 'failed_permanent', error_message: DELETED, next_attempt_at: null })
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

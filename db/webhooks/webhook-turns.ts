// Turns at the destinations of webhooks. They bound how many attempts are under way at a host and for an organization,
// over all workers, and say whose attempt is next. A delivery that waits for its turn is a row here, and nothing else.
import { sql } from 'kysely';
import { type DeliveryCall, OPEN_STATUSES } from '../../flow/delivery.ts';
import type { Db, Tx } from '../connect.ts';
import { CHECK_SOON, toDeliveryCall } from './open-deliveries.ts';

/** The most attempts of one organization at one host. */
export const PAIR_MAX = 10;
/** The most attempts of all organizations at one host. */
export const HOST_MAX = 50;
/** The most attempts of one organization at all hosts; a few more when several begin at different hosts at one moment. */
export const ORGANIZATION_MAX = 40;

/** Longer than any attempt takes: then the turn of a holder that died is free again. */
const TURN_LENGTH = sql`interval '2 minutes'`;
const BOUNDS = sql`${sql.lit(PAIR_MAX)}, ${sql.lit(HOST_MAX)}, ${sql.lit(ORGANIZATION_MAX)}`;
/** When the reconciler looks at a waiting delivery, in case its turn never comes. */
const WAITING_CHECK = sql<Date>`now() + interval '1 hour'`;

/**
 * Takes the turn of a delivery at its destination, or queues it behind those that wait there and may begin; answers whether the
 * turn was taken. `hasWorkflow` says that the delivery's workflow asks, and is to be told when its turn comes.
 */
export async function takeTurn(db: Db, call: DeliveryCall, { hasWorkflow = false } = {}): Promise<boolean> {
  const { deliveryId, round, organizationId, host } = call;
  const { rows } = await sql<{ taken: boolean }>`
    select take_webhook_turn(${deliveryId}, ${round}, ${organizationId}, ${host}, ${hasWorkflow}, ${TURN_LENGTH}, ${BOUNDS})
      as taken`.execute(db);
  if (rows[0]?.taken) return true;
  await db
    .updateTable('webhook_delivery')
    .set({ check_at: WAITING_CHECK })
    .where('id', '=', deliveryId)
    .where('round', '=', round)
    .where('status', 'in', OPEN_STATUSES)
    // It may have been given a turn by now.
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_turn')
          .select('host')
          .where('delivery_id', '=', deliveryId)
          .where('webhook_turn.round', '=', round)
          .where('held_until', 'is', null),
      ),
    )
    .execute();
  return false;
}

/** Announces hosts at which deliveries were queued that nobody starts yet. */
export const WAITING_CHANNEL = 'weir_delivery_waits';

/** Queues deliveries for their turns, in this order, and announces that. */
export async function awaitTurns(db: Tx, calls: DeliveryCall[]): Promise<void> {
  const ids = calls.map((call) => call.deliveryId);
  await sql`
    insert into webhook_turn (delivery_id, round, organization_id, host, has_workflow)
    select * from unnest(
      ${ids}::uuid[], ${calls.map((call) => call.round)}::integer[],
      ${calls.map((call) => call.organizationId)}::uuid[], ${calls.map((call) => call.host)}::text[]
    ), (values (false)) as started`.execute(db);
  await db
    .updateTable('webhook_delivery')
    .set({ check_at: WAITING_CHECK })
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute();
  const hosts = [...new Set(calls.map((call) => call.host))];
  await sql`select pg_notify(${WAITING_CHANNEL}, host) from unnest(${hosts}::text[]) host`.execute(db);
}

/** Ends the turn of a delivery; answers the hosts at which a waiting delivery may take its turn now. */
export async function endTurn(
  db: Db,
  { deliveryId, round, organizationId, host }: DeliveryCall,
): Promise<string[]> {
  const { rows } = await sql<{ next_host: string | null; waits_here: boolean }>`
    select * from end_webhook_turn(${deliveryId}, ${round}, ${organizationId}, ${host})`.execute(db);
  return rows.flatMap(({ next_host, waits_here }) => [
    ...(next_host === null ? [] : [next_host]),
    ...(waits_here ? [host] : []),
  ]);
}

/** A turn that was given. `isOpen` is false when the delivery has ended or was sent again, and needs no turn. */
export type GivenTurn = { call: DeliveryCall; hasWorkflow: boolean; isOpen: boolean };

/** Gives up to `atMost` free turns at `host`, to the organizations in order, beginning with the next after `after`. */
export async function giveTurns(
  db: Db,
  { host, after, atMost }: { host: string; after: string; atMost: number },
): Promise<GivenTurn[]> {
  // The turns and when their deliveries are looked at are one statement, so that none is left waiting for a turn it had. One
  // that somebody else changes just now is skipped: whoever has the lock of the host waits for nobody.
  const { rows } = await sql<Parameters<typeof toDeliveryCall>[0] & Given>`
    with given as materialized (
      select * from give_webhook_turns(${host}, ${after}, ${atMost}, ${TURN_LENGTH}, ${BOUNDS})
    ), checked as (
      update webhook_delivery set check_at = ${CHECK_SOON} where id in (
        select id from webhook_delivery join given on id = given_delivery and is_open
        for no key update of webhook_delivery skip locked
      )
    )
    select d.id, d.organization_id, d.event_type, d.target_url, d.attempt, given_round as round,
      waits_in_workflow, is_open
    from given join webhook_delivery d on d.id = given_delivery`.execute(db);
  return rows.map((row) => ({
    call: toDeliveryCall(row),
    hasWorkflow: row.waits_in_workflow,
    isOpen: row.is_open,
  }));
}
type Given = { waits_in_workflow: boolean; is_open: boolean };

/** Lists up to `limit` hosts at which deliveries wait, chosen at random. */
export async function listWaitingHosts(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom((from) =>
      from.selectFrom('webhook_turn').select('host').distinct().where('held_until', 'is', null).as('waiting'),
    )
    .select('host')
    .orderBy(sql`random()`)
    .limit(limit)
    .execute();
  return rows.map((row) => row.host);
}

/** Deletes turns whose holders died. */
export async function dropLapsedTurns(db: Db): Promise<void> {
  await db.deleteFrom('webhook_turn').where('held_until', '<', sql<Date>`now()`).execute();
}

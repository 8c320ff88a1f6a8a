import { type RawBuilder, sql } from 'kysely';
import { OPEN_STATUSES } from '../../flow/delivery.ts';
import type { Db, Tx } from '../connect.ts';

const DELETED = 'The project or organization was deleted before the delivery was made.';

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

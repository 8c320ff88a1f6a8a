// An attempt that ends starts the next waiting delivery, so that none has to poll for its turn.
import type { Db } from '../../db/connect.ts';
import { logOutage } from '../../db/connection/database-errors.ts';
import { endTurn, type GivenTurn, giveTurns } from '../../db/webhooks/webhook-turns.ts';
import type { DeliveryCall } from '../../flow/delivery.ts';
import { log } from '../../platform/observability/log.ts';

/**
 * Ends the turn of a delivery and starts the deliveries that waited for it: first one of the same organization to another
 * host, so that a host that hangs does not hold up the others, then one of the next organization to this host. The
 * reconciler makes up for a failure.
 */
export async function endDeliveryTurn(
  { db, beginTurn }: { db: Db; beginTurn(turn: GivenTurn): Promise<void> },
  call: DeliveryCall,
): Promise<void> {
  try {
    for (const host of await endTurn(db, call))
      for (const turn of await giveTurns(db, { host, after: call.organizationId, atMost: 1 }))
        await beginTurn(turn);
  } catch (error) {
    if (!logOutage(error))
      log.warn(
        { delivery_id: call.deliveryId, err: error },
        'The turn of a delivery could not be passed on yet.',
      );
  }
}

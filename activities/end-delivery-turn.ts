// Who has ended an attempt begins the next of those that wait: nobody asks again and again.
import type { Db } from '../db/connect.ts';
import { endTurn, type GivenTurn, giveTurns } from '../db/webhooks/webhook-turns.ts';
import type { DeliveryCall } from '../flow/delivery.ts';

/**
 * Ends the turn of a delivery and begins what waits for it: first of the same organization at another host, that one
 * which hangs does not keep the others, then at this host, of the next organization. What fails is made good by the
 * reconciler.
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
    console.error(`The turn of delivery ${call.deliveryId} is not passed on yet: ${error}`);
  }
}

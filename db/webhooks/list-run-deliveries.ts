import type { Db } from '../connect.ts';

/** Lists the deliveries that report the end of a run; none when its caller did not ask for that event. */
export function listRunDeliveries(db: Db, executionId: string) {
  return db
    .selectFrom('webhook_delivery')
    .select(['id', 'event_type', 'status'])
    .where('execution_id', '=', executionId)
    .execute();
}

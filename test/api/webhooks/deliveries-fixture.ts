// Deliveries on record, for tests that read them or send them anew.
import { randomUUID } from 'node:crypto';
import { insertTestDelivery } from '../../../db/webhooks/open-deliveries.ts';
import type { Answer, Tenant } from '../../harness.ts';
import type { WebhookWeir } from '../../webhooks.ts';

export type Delivery = Answer['body'];

/** Whether a delivery has the status. */
export const statusIs = (wanted: string) => (delivery: Delivery) => delivery.status === wanted;

/** Records `count` deliveries to the first receiver, none attempted; answers their ids in that order. */
export async function recordDeliveries(
  weir: WebhookWeir,
  tenant: Pick<Tenant, 'organizationId'>,
  count: number,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const url = `https://${weir.hooks[0]?.host}/`;
  const delivery = { organizationId: tenant.organizationId, url, body: '{}' };
  for (const id of ids) await insertTestDelivery(weir.db, { ...delivery, id, event: 'flow.failed' });
  return ids;
}

/** Changes columns of recorded deliveries. */
export function changeDeliveries(weir: WebhookWeir, ids: string[], changes: object) {
  return weir.db.updateTable('webhook_delivery').set(changes).where('id', 'in', ids).execute();
}

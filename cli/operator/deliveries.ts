import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { requireWebhookUrl } from '../../api/runs/calls/callback.ts';
import { getDeliveryDetail, toDeliveryRecord } from '../../api/webhooks/delivery-records.ts';
import {
  addTestDelivery,
  recoverDeliveries,
  redeliverDelivery,
} from '../../api/webhooks/recorded-redeliveries.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { type DeliveryFilter, type DeliveryPlace, listDeliveries } from '../../db/webhooks/deliveries.ts';
import type { WebhookEvent } from '../../flow/delivery.ts';
import { type CommandResult, note } from '../terminal/print.ts';
import { defineDeliveryCommands } from '../terminal/shared-commands.ts';
import { deliveryTable, formatDelivery } from '../terminal/tables.ts';
import { WEBHOOK_RULES } from './environment.ts';
import { getOrganization, onDatabase, operator } from './on-database.ts';

/** Read by one statement; over HTTP, page by page, a command lists more. */
const LIST_MAX = 1_000;

export function addDeliveryCommands(program: Command): void {
  defineDeliveryCommands(
    program,
    { weir: 'weir operator', limitMax: LIST_MAX, sent: '; a worker does so within a minute' },
    {
      list: onDatabase(list),
      show: onDatabase(show),
      redeliver: onDatabase(redeliver),
      recover: onDatabase(recover),
      test: onDatabase(test),
    },
  );
}

type ListOptions = Omit<DeliveryFilter, 'executionId'> & { run?: string; limit: number };

async function list(db: Db, slug: string, { run, ...filter }: ListOptions): Promise<CommandResult> {
  const { id: organizationId } = await getOrganization(db, slug);
  const rows = await listDeliveries(db, { ...filter, organizationId, executionId: run });
  const deliveries = rows.map((row) => ({ ...toDeliveryRecord(row), executionId: row.execution_id }));
  return { json: deliveries, text: deliveryTable(deliveries) };
}

async function show(db: Db, slug: string, deliveryId: string): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  const delivery = await getDeliveryDetail(db, id, deliveryId);
  return { json: delivery, text: formatDelivery(delivery) };
}

async function redeliver(db: Db, slug: string, deliveryId: string): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  await inTransaction(db, (tx) => redeliverDelivery(tx, operator(), id, deliveryId));
  return { json: { id: deliveryId }, text: `Delivery ${deliveryId} is sent again within a minute.` };
}

type Period = { since: Date; until?: Date; status?: 'failed_permanent' | 'dead_letter' };

async function recover(db: Db, slug: string, period: Period): Promise<CommandResult> {
  const { id: organizationId } = await getOrganization(db, slug);
  let recovered = 0;
  let after: DeliveryPlace | undefined;
  const describe = () => `${recovered} deliveries are sent again, the first within a minute.`;
  do {
    if (after) note(`${describe()} So far …`);
    const { calls, next } = await inTransaction(db, (tx) =>
      recoverDeliveries(tx, operator(), { organizationId, ...period, after }),
    );
    recovered += calls.length;
    after = next ?? undefined;
  } while (after);
  return { json: { recovered }, text: describe() };
}

async function test(
  db: Db,
  slug: string,
  options: { url: string; event: WebhookEvent },
): Promise<CommandResult> {
  const { id: organizationId } = await getOrganization(db, slug);
  const url = await requireWebhookUrl(WEBHOOK_RULES, '--url', options.url);
  const delivery = { id: randomUUID(), organizationId, event: options.event, url };
  await inTransaction(db, (tx) => addTestDelivery(tx, operator(), delivery));
  return { json: { id: delivery.id }, text: `Delivery ${delivery.id} is sent within a minute.` };
}

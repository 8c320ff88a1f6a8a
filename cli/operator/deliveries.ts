import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { requireWebhookUrl } from '../../api/calls/require-webhook-url.ts';
import { getDeliveryDetail } from '../../api/webhooks/get-delivery-detail.ts';
import { addTestDelivery, recoverDeliveries, resendDelivery } from '../../api/webhooks/recorded-resends.ts';
import { toDeliveryRecord } from '../../api/webhooks/to-delivery-record.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { type DeliveryFilter, type DeliveryPlace, listDeliveries } from '../../db/webhooks/deliveries.ts';
import { awaitTurns } from '../../db/webhooks/webhook-turns.ts';
import { DELIVERY_STATUSES, WEBHOOK_EVENTS, type WebhookEvent } from '../../flow/delivery.ts';
import { deliveryTable, formatDelivery } from '../terminal/delivery-table.ts';
import { parseHttps, parseId, parseRunId, parseTime, parseWholeNumber } from '../terminal/parse-argument.ts';
import { note } from '../terminal/print-line.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { getOrganization } from './find-by-path.ts';
import { onDatabase } from './on-database.ts';
import { operator } from './operator.ts';
import { WEBHOOK_RULES } from './webhook-rules.ts';

const LIST_MAX = 1_000;

export function addDeliveryCommands(program: Command): void {
  const deliveries = program.command('deliveries').description('list, show and send webhook deliveries');
  const orgArgument = ['<org>', 'slug of the organization'] as const;
  const idArgument = [
    '<deliveryId>',
    'id of the delivery',
    parseId('a delivery', 'weir operator deliveries list'),
  ] as const;
  deliveries
    .command('list')
    .description('list the deliveries of an organization, newest first')
    .argument(...orgArgument)
    .addOption(
      new Option('--status <status>', 'list only deliveries with this status').choices(DELIVERY_STATUSES),
    )
    .addOption(new Option('--event <event>', 'list only deliveries of this event').choices(WEBHOOK_EVENTS))
    .option('--run <executionId>', 'list only the delivery of this run', parseRunId)
    .option('--limit <number>', 'how many deliveries to list', parseWholeNumber(1, LIST_MAX), 20)
    .action(onDatabase(list));
  deliveries
    .command('show')
    .description('show a delivery, its body and its attempts')
    .argument(...orgArgument)
    .argument(...idArgument)
    .action(onDatabase(show));
  deliveries
    .command('redeliver')
    .description('send a delivery again, whatever its status; a worker does so within a minute')
    .argument(...orgArgument)
    .argument(...idArgument)
    .action(onDatabase(redeliver));
  deliveries
    .command('recover')
    .description('send again the failed deliveries that were created in a period')
    .argument(...orgArgument)
    .requiredOption('--since <time>', 'created at this time or later, e.g. 2030-01-31', parseTime)
    .option('--until <time>', 'created before this time (default: now)', parseTime)
    .addOption(
      new Option('--status <status>', 'only deliveries with this status (default: both)').choices([
        'failed_permanent',
        'dead_letter',
      ]),
    )
    .action(onDatabase(recover));
  deliveries
    .command('test')
    .description('send a made-up event, marked as a test; a worker does so within a minute')
    .argument(...orgArgument)
    .requiredOption('--url <url>', 'where to send it: an https URL at a public address', parseHttps)
    .addOption(
      new Option('--event <event>', 'event to send').choices(WEBHOOK_EVENTS).default('flow.completed'),
    )
    .action(onDatabase(test));
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
  await inTransaction(db, async (tx) => {
    const call = await resendDelivery(tx, operator(), id, deliveryId);
    await awaitTurns(tx, [call]);
  });
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
  await inTransaction(db, async (tx) => {
    const call = await addTestDelivery(tx, operator(), delivery);
    await awaitTurns(tx, [call]);
  });
  return { json: { id: delivery.id }, text: `Delivery ${delivery.id} is sent within a minute.` };
}

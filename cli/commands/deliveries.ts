import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { deliveryDetail, deliveryRecord, recovered } from '../../api/webhooks/schemas.ts';
import { DELIVERY_STATUSES, WEBHOOK_EVENTS } from '../../flow/delivery.ts';
import { callApi } from '../api/call-api.ts';
import { getOrganization } from '../api/find-by-path.ts';
import { listAll } from '../api/list-all.ts';
import { deliveryTable, formatDelivery } from '../terminal/delivery-table.ts';
import { parseHttps, parseId, parseRunId, parseTime, parseWholeNumber } from '../terminal/parse-argument.ts';
import { note } from '../terminal/print-line.ts';
import { type CommandResult, printed } from '../terminal/print-result.ts';

const LIMIT_MAX = 10_000;
const ORG = ['<org>', 'slug of the organization'] as const;
const ID = ['<deliveryId>', 'id of the delivery', parseId('a delivery', 'weir deliveries list')] as const;

type Delivery = z.output<typeof deliveryRecord>;

export function addDeliveryCommands(program: Command): void {
  const deliveries = program.command('deliveries').description('list, show and send webhook deliveries');
  deliveries
    .command('list')
    .description('list the deliveries of an organization, newest first')
    .argument(...ORG)
    .addOption(new Option('--status <status>', 'only deliveries with this status').choices(DELIVERY_STATUSES))
    .addOption(new Option('--event <event>', 'only deliveries of this event').choices(WEBHOOK_EVENTS))
    .option('--run <executionId>', 'only the delivery of this run', parseRunId)
    .option('--limit <number>', 'how many deliveries to list', parseWholeNumber(1, LIMIT_MAX), 20)
    .addHelpText('after', '\nExample:\n  weir deliveries list acme --status dead_letter')
    .action(printed(list));
  deliveries
    .command('show')
    .description('show a delivery, its body and its attempts')
    .argument(...ORG)
    .argument(...ID)
    .addHelpText('after', '\nExample:\n  weir deliveries show acme 3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11')
    .action(printed(show));
  deliveries
    .command('redeliver')
    .description('send a delivery again, whatever its status')
    .argument(...ORG)
    .argument(...ID)
    .addHelpText('after', '\nExample:\n  weir deliveries redeliver acme 3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11')
    .action(printed(redeliver));
  deliveries
    .command('recover')
    .description('send again the failed deliveries that were created in a period')
    .argument(...ORG)
    .requiredOption('--since <time>', 'created at this time or later, e.g. 2030-01-31', parseTime)
    .option('--until <time>', 'created before this time (default: now)', parseTime)
    .addOption(
      new Option('--status <status>', 'only deliveries with this status (default: both)').choices([
        'failed_permanent',
        'dead_letter',
      ]),
    )
    .addHelpText('after', '\nExample:\n  weir deliveries recover acme --since 2030-01-31')
    .action(printed(recover));
  deliveries
    .command('test')
    .description('send a made-up event, marked as a test')
    .argument(...ORG)
    .requiredOption('--url <url>', 'where to send it: an https URL at a public address', parseHttps)
    .addOption(
      new Option('--event <event>', 'event to send').choices(WEBHOOK_EVENTS).default('flow.completed'),
    )
    .addHelpText('after', '\nExample:\n  weir deliveries test acme --url https://example.com/hook')
    .action(printed(test));
}

type ListOptions = { status?: string; event?: string; run?: string; limit: number };

async function list(org: string, { run, limit, status, event }: ListOptions): Promise<CommandResult> {
  const query = { status, event, execution_id: run };
  const path = await webhooksPath(org, 'deliveries');
  const deliveries = await listAll<Delivery>(path, 'deliveries', { limit, cursor: 'before', query });
  return { json: deliveries, text: deliveryTable(deliveries) };
}

async function show(org: string, id: string): Promise<CommandResult> {
  const path = await webhooksPath(org, `deliveries/${id}`);
  const delivery = await callApi<z.output<typeof deliveryDetail>>('GET', path);
  return { json: delivery, text: formatDelivery(delivery) };
}

async function redeliver(org: string, id: string): Promise<CommandResult> {
  const delivery = await callApi<Delivery>('POST', await webhooksPath(org, `deliveries/${id}/redeliver`));
  return { json: delivery, text: `Delivery ${id} is being sent again.` };
}

async function recover(
  org: string,
  { since, until, status }: { since: Date; until?: Date; status?: string },
): Promise<CommandResult> {
  const path = await webhooksPath(org, 'recover');
  let count = 0;
  let cursor: string | null = null;
  const describe = () => `${count} deliveries are being sent again.`;
  do {
    if (cursor) note(`${describe()} So far …`);
    const body = { since, until, status, ...(cursor && { cursor }) };
    const page: z.output<typeof recovered> = await callApi('POST', path, { body });
    count += page.recovered;
    cursor = page.nextCursor;
  } while (cursor);
  return { json: { recovered: count }, text: describe() };
}

async function test(org: string, body: { url: string; event: string }): Promise<CommandResult> {
  const delivery = await callApi<Delivery>('POST', await webhooksPath(org, 'test'), {
    body: { url: body.url, event: body.event },
  });
  return { json: delivery, text: `Delivery ${delivery.id} is being sent.` };
}

async function webhooksPath(org: string, what: string): Promise<string> {
  return `/api/v1/organizations/${(await getOrganization(org)).id}/webhooks/${what}`;
}

import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type {
  deliveryDetail,
  deliveryRecord,
  recovered,
  rotatedSecret,
  secretRecord,
} from '../../api/webhooks/schemas.ts';
import { DELIVERY_STATUSES, WEBHOOK_EVENTS } from '../../flow/delivery.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { organizationPath } from '../api/get-resource.ts';
import {
  EXAMPLE_ID,
  ORG,
  parseHttps,
  parseId,
  parseRunId,
  parseTime,
  parseWholeNumber,
} from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, note, oneLine, printed } from '../terminal/print.ts';

const LIMIT_MAX = 10_000;

type Delivery = z.output<typeof deliveryRecord>;
type DetailedDelivery = z.output<typeof deliveryDetail>;

export function addDeliveryCommands(program: Command): void {
  const deliveries = program.command('deliveries').description('list, show and send webhook deliveries');
  const id = ['<deliveryId>', 'id of the delivery', parseId('a delivery', 'weir deliveries list')] as const;
  const define = (name: string, description: string, example: string) =>
    deliveries
      .command(name)
      .description(description)
      .argument(...ORG)
      .addHelpText('after', `\nExample:\n  weir deliveries ${name} acme ${example}`);
  define('list', 'list the deliveries of an organization, newest first', '--status dead_letter')
    .addOption(new Option('--status <status>', 'only deliveries with this status').choices(DELIVERY_STATUSES))
    .addOption(new Option('--event <event>', 'only deliveries of this event').choices(WEBHOOK_EVENTS))
    .option('--run <executionId>', 'only the delivery of this run', parseRunId)
    .option('--limit <number>', 'how many deliveries to list', parseWholeNumber(1, LIMIT_MAX), 20)
    .action(printed(list));
  define('show', 'show a delivery, its body and its attempts', EXAMPLE_ID)
    .argument(...id)
    .action(printed(show));
  define('redeliver', 'send a delivery again, whatever its status', EXAMPLE_ID)
    .argument(...id)
    .action(printed(redeliver));
  define('recover', 'send again the failed deliveries of a period', '--since 2030-01-31')
    .requiredOption('--since <time>', 'created at this time or later, e.g. 2030-01-31', parseTime)
    .option('--until <time>', 'created before this time (default: now)', parseTime)
    .addOption(
      new Option('--status <status>', 'only deliveries with this status (default: both)').choices([
        'failed_permanent',
        'dead_letter',
      ]),
    )
    .action(printed(recover));
  define('test', 'send a sample event, marked as a test', '--url https://example.com/hook')
    .requiredOption('--url <url>', 'where to send it: an https URL at a public address', parseHttps)
    .addOption(
      new Option('--event <event>', 'event to send').choices(WEBHOOK_EVENTS).default('flow.completed'),
    )
    .action(printed(test));
}

type ListOptions = { status?: string; event?: string; run?: string; limit: number };

async function list(org: string, { run, limit, status, event }: ListOptions): Promise<CommandResult> {
  const query = { status, event, execution_id: run };
  const path = await organizationPath(org, 'webhooks/deliveries');
  const deliveries = await listAll<Delivery>(path, 'deliveries', { limit, cursor: 'before', query });
  return {
    json: deliveries,
    text: formatTable(
      ['delivery', 'event', 'status', 'attempt', 'answer', 'created', 'url'],
      deliveries.map((delivery) => [
        delivery.id,
        delivery.eventType,
        delivery.status,
        delivery.attempt,
        delivery.responseStatus,
        formatTime(delivery.createdAt),
        delivery.targetUrl,
      ]),
      'No deliveries were found.',
    ),
  };
}

async function show(org: string, id: string): Promise<CommandResult> {
  const path = await organizationPath(org, `webhooks/deliveries/${id}`);
  const delivery = await callApi<DetailedDelivery>('GET', path);
  return { json: delivery, text: formatDelivery(delivery) };
}

/** Formats a delivery with its attempts and its body. */
function formatDelivery(delivery: DetailedDelivery): string {
  const { nextAttemptAt, requestBody } = delivery;
  return [
    `${delivery.id}  ${delivery.eventType} to ${oneLine(delivery.targetUrl)}`,
    `${delivery.status}, created ${formatTime(delivery.createdAt)}${nextAttemptAt ? describeNext(nextAttemptAt) : ''}`,
    delivery.executionId ? `Run: ${delivery.executionId}` : 'A test, of no run.',
    ...(delivery.errorMessage === null ? [] : [`Error: ${oneLine(delivery.errorMessage)}`]),
    '',
    formatTable(
      ['round', 'attempt', 'started', 'ms', 'answer', 'error or body'],
      delivery.attempts.map((attempt) => [
        attempt.round,
        attempt.attempt,
        formatTime(attempt.startedAt),
        attempt.durationMs,
        attempt.responseStatus,
        attempt.errorMessage ?? attempt.responseBody,
      ]),
      'No attempt was made yet.',
    ),
    ...(requestBody === null ? [] : ['', `Body: ${oneLine(requestBody)}`]),
  ].join('\n');
}

/** An overdue attempt waits in a queue, or its worker was lost; when it is made is not known here. */
function describeNext(at: string): string {
  return `, next attempt ${Date.parse(at) > Date.now() ? '' : 'due since '}${formatTime(at)}`;
}

async function redeliver(org: string, id: string): Promise<CommandResult> {
  const delivery = await callApi<Delivery>(
    'POST',
    await organizationPath(org, `webhooks/deliveries/${id}/redeliver`),
  );
  return { json: delivery, text: `Delivery ${id} is being sent again.` };
}

async function recover(
  org: string,
  { since, until, status }: { since: Date; until?: Date; status?: string },
): Promise<CommandResult> {
  const path = await organizationPath(org, 'webhooks/recover');
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
  const delivery = await callApi<Delivery>('POST', await organizationPath(org, 'webhooks/test'), {
    body: { url: body.url, event: body.event },
  });
  return { json: delivery, text: `Delivery ${delivery.id} is being sent.` };
}

export function addWebhookSecretCommands(program: Command): void {
  const secret = program
    .command('webhook-secret')
    .description('show and rotate the secret that signs webhooks');
  secret
    .command('show')
    .description('show the signing secret, masked')
    .argument(...ORG)
    .addHelpText('after', '\nExample:\n  weir webhook-secret show acme')
    .action(printed(showSecret));
  secret
    .command('rotate')
    .description('create a new signing secret and print it; the old one still signs for 24 hours')
    .argument(...ORG)
    .option('--no-grace', 'stop signing with the old secret at once, for example after a leak')
    .addHelpText('after', '\nExample:\n  weir webhook-secret rotate acme')
    .action(printed(rotate));
}

async function showSecret(org: string): Promise<CommandResult> {
  const secret = await callApi<z.output<typeof secretRecord>>(
    'GET',
    await organizationPath(org, 'webhooks/secret'),
  );
  const until = secret.graceUntil ? `; the one before signs until ${formatTime(secret.graceUntil)}` : '';
  return { json: secret, text: `${secret.secretPreview}, version ${secret.version}${until}` };
}

async function rotate(org: string, { grace }: { grace: boolean }): Promise<CommandResult> {
  const path = await organizationPath(org, 'webhooks/secret/rotate');
  const secret = await callApi<z.output<typeof rotatedSecret>>('POST', path, {
    query: { grace: String(grace) },
  });
  return { json: secret, text: `${secret.newSecret}\nKeep the secret now: it cannot be shown again.` };
}

// Commands that take the same arguments over HTTP and from an operator.
import { type Command, Option } from 'commander';
import { DELIVERY_STATUSES, WEBHOOK_EVENTS } from '../../flow/delivery.ts';
import { parseHttps, parseId, parseRunId, parseTime, parseWholeNumber } from './parse-argument.ts';

const LIMIT_DEFAULT = 50;

/** The id of a run or a delivery, in the examples of `--help`. */
export const EXAMPLE_ID = '3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11';

const ORG = ['<org>', 'slug of the organization'] as const;

type Action = Parameters<Command['action']>[0];
type Actions = { list: Action; show: Action; redeliver: Action; recover: Action; test: Action };

/**
 * Adds the commands `deliveries …`, which take the same over HTTP and on the database; `weir` is how they are called there, and
 * `sent` says when a delivery is sent.
 */
export function defineDeliveryCommands(
  program: Command,
  { weir, limitMax, sent = '' }: { weir: string; limitMax: number; sent?: string },
  { list, show, redeliver, recover, test }: Actions,
): void {
  const deliveries = program.command('deliveries').description('list, show and send webhook deliveries');
  const id = [
    '<deliveryId>',
    'id of the delivery',
    parseId('a delivery', `${weir} deliveries list`),
  ] as const;
  const define = (name: string, description: string, example: string) =>
    deliveries
      .command(name)
      .description(description)
      .argument(...ORG)
      .addHelpText('after', `\nExample:\n  ${weir} deliveries ${name} acme ${example}`);
  define('list', 'list the deliveries of an organization, newest first', '--status dead_letter')
    .addOption(new Option('--status <status>', 'only deliveries with this status').choices(DELIVERY_STATUSES))
    .addOption(new Option('--event <event>', 'only deliveries of this event').choices(WEBHOOK_EVENTS))
    .option('--run <executionId>', 'only the delivery of this run', parseRunId)
    .option('--limit <number>', 'how many deliveries to list', parseWholeNumber(1, limitMax), 20)
    .action(list);
  define('show', 'show a delivery, its body and its attempts', EXAMPLE_ID)
    .argument(...id)
    .action(show);
  define('redeliver', `send a delivery again, whatever its status${sent}`, EXAMPLE_ID)
    .argument(...id)
    .action(redeliver);
  define('recover', 'send again the failed deliveries of a period', '--since 2030-01-31')
    .requiredOption('--since <time>', 'created at this time or later, e.g. 2030-01-31', parseTime)
    .option('--until <time>', 'created before this time (default: now)', parseTime)
    .addOption(
      new Option('--status <status>', 'only deliveries with this status (default: both)').choices([
        'failed_permanent',
        'dead_letter',
      ]),
    )
    .action(recover);
  define('test', `send a sample event, marked as a test${sent}`, '--url https://example.com/hook')
    .requiredOption('--url <url>', 'where to send it: an https URL at a public address', parseHttps)
    .addOption(
      new Option('--event <event>', 'event to send').choices(WEBHOOK_EVENTS).default('flow.completed'),
    )
    .action(test);
}

/** Adds the command `audit-log`, which takes the same over HTTP and on the database; its example begins with `weir`. */
export function defineAuditLog(
  program: Command,
  { weir, limitMax }: { weir: string; limitMax: number },
  list: Parameters<Command['action']>[0],
): void {
  program
    .command('audit-log')
    .description('list who changed what in an organization, newest first')
    .argument('<org>', 'slug of the organization')
    .option('--actor <actor>', 'only entries of this user id, api_key/<keyId>, operator or service')
    .option('--action <action>', 'only entries of this action, such as api_key.revoke')
    .option('--since <time>', 'only entries made at this time or later, e.g. 2030-01-31', parseTime)
    .option('--limit <number>', 'how many entries to list', parseWholeNumber(1, limitMax), LIMIT_DEFAULT)
    .addHelpText('after', `\nExample:\n  ${weir} audit-log acme --action api_key.create --since 2030-01-01`)
    .action(list);
}

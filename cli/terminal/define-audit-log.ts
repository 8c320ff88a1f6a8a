import type { Command } from 'commander';
import { parseTime, parseWholeNumber } from './parse-argument.ts';

const LIMIT_DEFAULT = 50;

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

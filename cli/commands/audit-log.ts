import type { Command } from 'commander';
import type { z } from 'zod';
import type { auditList } from '../../api/organizations/schemas.ts';
import { listAll } from '../api/call-api.ts';
import { organizationPath } from '../api/get-resource.ts';
import { ORG, parseTime, parseWholeNumber } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, printed } from '../terminal/print.ts';

const LIMIT_MAX = 10_000;

type Entry = z.output<typeof auditList>['entries'][number];
type Options = { actor?: string; action?: string; since?: Date; limit: number };

export function addAuditLogCommand(program: Command): void {
  program
    .command('audit-log')
    .description('list who changed what in an organization, newest first')
    .argument(...ORG)
    .option('--actor <actor>', 'only entries of this user id, api_key/<keyId>, operator/<keyId> or service')
    .option('--action <action>', 'only entries of this action, such as api_key.revoke')
    .option('--since <time>', 'only entries made at this time or later, e.g. 2030-01-31', parseTime)
    .option('--limit <number>', 'how many entries to list', parseWholeNumber(1, LIMIT_MAX), 50)
    .addHelpText('after', '\nExample:\n  weir audit-log acme --action api_key.create --since 2030-01-01')
    .action(printed(list));
}

async function list(org: string, { limit, actor, action, since }: Options): Promise<CommandResult> {
  const path = await organizationPath(org, 'audit-log');
  const entries = await listAll<Entry>(path, 'entries', {
    limit,
    cursor: 'before',
    query: { actor, action, since },
  });
  return {
    json: entries,
    text: formatTable(
      ['at', 'actor', 'action', 'resource', 'details', 'id'],
      entries.map(({ at, actor, action, resourceId, details, id }) => [
        formatTime(at),
        ...[actor, action, resourceId, JSON.stringify(details), id],
      ]),
      'There are no entries.',
    ),
  };
}

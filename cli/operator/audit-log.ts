import type { Command } from 'commander';
import { toAuditEntry } from '../../api/management/to-audit-entry.ts';
import type { Db } from '../../db/connect.ts';
import { type AuditFilter, listAuditEntries } from '../../db/tenants/audit-entries.ts';
import { auditTable } from '../terminal/audit-table.ts';
import { parseTime, parseWholeNumber } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { getOrganization } from './find-by-path.ts';
import { onDatabase } from './on-database.ts';

/** Read by one statement; over HTTP, page by page, a command lists more. */
const LIMIT_MAX = 1_000;
const LIMIT_DEFAULT = 50;

export function addAuditLogCommand(program: Command): void {
  program
    .command('audit-log')
    .description('list who changed what in an organization, newest first')
    .argument('<org>', 'slug of the organization')
    .option('--actor <actor>', 'only entries of this user id, api_key/<keyId>, operator or service')
    .option('--action <action>', 'only entries of this action, such as api_key.revoke')
    .option('--since <time>', 'only entries made at this time or later, e.g. 2030-01-31', parseTime)
    .option('--limit <number>', 'how many entries to list', parseWholeNumber(1, LIMIT_MAX), LIMIT_DEFAULT)
    .action(onDatabase(list));
}

async function list(db: Db, slug: string, options: AuditFilter & { limit: number }): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  const entries = (await listAuditEntries(db, id, options)).map(toAuditEntry);
  return { json: entries, text: auditTable(entries) };
}

import type { Command } from 'commander';
import { toAuditEntry } from '../../api/organizations/to-records.ts';
import type { Db } from '../../db/connect.ts';
import { type AuditFilter, listAuditEntries } from '../../db/tenants/audit-entries.ts';
import type { CommandResult } from '../terminal/print.ts';
import { defineAuditLog } from '../terminal/shared-commands.ts';
import { auditTable } from '../terminal/tables.ts';
import { getOrganization, onDatabase } from './on-database.ts';

/** Read by one statement; over HTTP, page by page, a command lists more. */
const LIMIT_MAX = 1_000;

export function addAuditLogCommand(program: Command): void {
  defineAuditLog(program, { weir: 'weir operator', limitMax: LIMIT_MAX }, onDatabase(list));
}

async function list(db: Db, slug: string, options: AuditFilter & { limit: number }): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  const entries = (await listAuditEntries(db, id, options)).map(toAuditEntry);
  return { json: entries, text: auditTable(entries) };
}

import type { Command } from 'commander';
import type { z } from 'zod';
import type { auditList } from '../../api/organizations/schemas.ts';
import { listAll } from '../api/call-api.ts';
import { getOrganization } from '../api/get-resource.ts';
import { type CommandResult, printed } from '../terminal/print.ts';
import { defineAuditLog } from '../terminal/shared-commands.ts';
import { auditTable } from '../terminal/tables.ts';

const LIMIT_MAX = 10_000;

type Entry = z.output<typeof auditList>['entries'][number];
type Options = { actor?: string; action?: string; since?: Date; limit: number };

export function addAuditLogCommand(program: Command): void {
  defineAuditLog(program, { weir: 'weir', limitMax: LIMIT_MAX }, printed(list));
}

async function list(org: string, { limit, actor, action, since }: Options): Promise<CommandResult> {
  const { id } = await getOrganization(org);
  const path = `/api/v1/organizations/${id}/audit-log`;
  const entries = await listAll<Entry>(path, 'entries', {
    limit,
    cursor: 'before',
    query: { actor, action, since },
  });
  return { json: entries, text: auditTable(entries) };
}

import type { Command } from 'commander';
import { disconnectAssistant } from '../api/management/recorded-writes.ts';
import { toAssistant } from '../api/management/to-assistant.ts';
import { type Db, inTransaction } from '../db/connect.ts';
import { assistantNotFound, listAssistants } from '../db/tenants/connected-assistants.ts';
import { UUID_PATTERN } from '../flow/limits.ts';
import { formatTable, formatTime } from './format-table.ts';
import { onDatabase } from './on-database.ts';
import { operator } from './operator.ts';
import type { CommandResult } from './print-result.ts';

const LISTED_MAX = 1_000;

export function addAssistantCommands(program: Command): void {
  const assistant = program
    .command('assistant')
    .description('list and disconnect the assistants that act for a user over MCP');
  assistant
    .command('list')
    .description('list the connected assistants of a user')
    .argument('<userId>', 'id of the user: the `sub` of the tokens that the identity provider issues')
    .action(onDatabase(list));
  assistant
    .command('disconnect')
    .description('refuse the tokens of an assistant at once, until the user consents to it again')
    .argument('<userId>', 'id of the user')
    .argument('<id>', 'id of the assistant, as listed')
    .action(onDatabase(disconnect));
}

async function list(db: Db, userId: string): Promise<CommandResult> {
  const rows = await listAssistants(db, userId, { limit: LISTED_MAX });
  return {
    json: rows.map(toAssistant),
    text: formatTable(
      ['id', 'name', 'client', 'scopes', 'last used'],
      rows.map((row) => [
        row.id,
        row.name ?? '',
        row.client_id,
        row.scopes.join(' '),
        formatTime(row.last_used_at),
      ]),
      'The user has no connected assistants.',
    ),
  };
}

async function disconnect(db: Db, userId: string, id: string): Promise<CommandResult> {
  if (!UUID_PATTERN.test(id)) throw assistantNotFound();
  const row = await inTransaction(db, (tx) => disconnectAssistant(tx, operator(), userId, id));
  return {
    json: toAssistant(row),
    text: `Disconnected ${row.name ?? (row.client_id || id)} from ${userId}.`,
  };
}

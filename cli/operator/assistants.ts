import type { Command } from 'commander';
import { disconnectAssistant } from '../../api/organizations/recorded-members.ts';
import { toAssistant } from '../../api/organizations/to-records.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import {
  type AssistantRow,
  assistantNotFound,
  listAssistants,
} from '../../db/tenants/connected-assistants.ts';
import { listUserOrganizations } from '../../db/tenants/organizations.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import type { CommandResult } from '../terminal/print.ts';
import { assistantTable } from '../terminal/tables.ts';
import { onDatabase, operator, readPages } from './on-database.ts';

const USER_ID =
  'id of the user, as weir operator member list prints it: the `sub` of tokens, not an e-mail address';

export function addAssistantCommands(program: Command): void {
  const assistant = program
    .command('assistant')
    .description('list and disconnect the assistants that act for a user over MCP');
  assistant
    .command('list')
    .description('list the connected assistants of a user')
    .argument('<userId>', USER_ID)
    .action(onDatabase(list));
  assistant
    .command('disconnect')
    .description('refuse the tokens of an assistant at once, until the user consents to it again')
    .argument('<userId>', USER_ID)
    .argument('<id>', 'id of the assistant, as listed')
    .action(onDatabase(disconnect));
}

async function list(db: Db, userId: string): Promise<CommandResult> {
  const rows = await readPages<AssistantRow>((last, limit) =>
    listAssistants(db, userId, { after: last?.id, limit }),
  );
  if (rows.length === 0) await requireMember(db, userId);
  const assistants = rows.map(toAssistant);
  return { json: assistants, text: assistantTable(assistants, 'The user has no connected assistants.') };
}

/** An empty list must not hide a misspelled id. */
async function requireMember(db: Db, userId: string): Promise<void> {
  const [organization] = await listUserOrganizations(db, userId, { limit: 1 });
  if (!organization)
    throw new ServiceError(
      'NOT_FOUND',
      `No user with the id ${userId} is known: no organization has such a member, and no assistant is connected for ` +
        'it. The id is the `sub` of tokens, not an e-mail address; weir operator member list <org> shows ids.',
    );
}

async function disconnect(db: Db, userId: string, id: string): Promise<CommandResult> {
  if (!UUID_PATTERN.test(id)) throw assistantNotFound();
  const row = await inTransaction(db, (tx) => disconnectAssistant(tx, operator(), userId, id));
  return {
    json: toAssistant(row),
    text: `Disconnected ${row.name ?? (row.client_id || id)} from ${userId}.`,
  };
}

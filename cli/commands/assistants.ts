import type { Command } from 'commander';
import type { toAssistant } from '../../api/organizations/to-records.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { parseId } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, printed } from '../terminal/print.ts';

const USER = ['--user <userId>', 'those of this user: the `sub` of tokens; for operators'] as const;

type Assistant = ReturnType<typeof toAssistant>;

export function addAssistantCommands(program: Command): void {
  const assistant = program
    .command('assistant')
    .description('list and disconnect assistants that act for you over MCP, as an operator those of others');
  assistant
    .command('list')
    .description('list your connected assistants')
    .option(...USER)
    .addHelpText('after', '\nExample:\n  weir assistant list')
    .action(printed(list));
  assistant
    .command('disconnect')
    .description('refuse the tokens of an assistant at once, until you consent to it again')
    .argument('<id>', 'id of the assistant, as listed', parseId('an assistant', 'weir assistant list'))
    .option(...USER)
    .addHelpText('after', '\nExample:\n  weir assistant disconnect 3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11')
    .action(printed(disconnect));
}

async function list({ user }: { user?: string }): Promise<CommandResult> {
  const assistants = await listAll<Assistant>(pathOf(user), 'assistants');
  return {
    json: assistants,
    text: formatTable(
      ['id', 'name', 'client', 'scopes', 'last used'],
      assistants.map(({ id, name, clientId, scopes, lastUsedAt }) => [
        ...[id, name ?? '', clientId, scopes.join(' ')],
        formatTime(lastUsedAt),
      ]),
      `${user === undefined ? 'You have' : 'The user has'} no connected assistants.`,
    ),
  };
}

async function disconnect(id: string, { user }: { user?: string }): Promise<CommandResult> {
  await callApi('DELETE', `${pathOf(user)}/${id}`);
  return { json: { id }, text: `Disconnected ${id}.` };
}

function pathOf(user: string | undefined): string {
  if (user === undefined) return '/api/v1/assistants';
  return `/api/v1/operator/users/${encodeURIComponent(user)}/assistants`;
}

import type { Command } from 'commander';
import type { toAssistant } from '../../api/organizations/to-records.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { parseId } from '../terminal/parse-argument.ts';
import { type CommandResult, printed } from '../terminal/print.ts';
import { assistantTable } from '../terminal/tables.ts';

const PATH = '/api/v1/assistants';

type Assistant = ReturnType<typeof toAssistant>;

export function addAssistantCommands(program: Command): void {
  const assistant = program
    .command('assistant')
    .description('list and disconnect assistants that act for you over MCP');
  assistant
    .command('list')
    .description('list your connected assistants')
    .addHelpText('after', '\nExample:\n  weir assistant list')
    .action(printed(list));
  assistant
    .command('disconnect')
    .description('refuse the tokens of an assistant at once, until you consent to it again')
    .argument('<id>', 'id of the assistant, as listed', parseId('an assistant', 'weir assistant list'))
    .addHelpText('after', '\nExample:\n  weir assistant disconnect 3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11')
    .action(printed(disconnect));
}

async function list(): Promise<CommandResult> {
  const assistants = await listAll<Assistant>(PATH, 'assistants');
  return { json: assistants, text: assistantTable(assistants, 'You have no connected assistants.') };
}

async function disconnect(id: string): Promise<CommandResult> {
  await callApi('DELETE', `${PATH}/${id}`);
  return { json: { id }, text: `Disconnected ${id}.` };
}

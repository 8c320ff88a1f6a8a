import type { Command } from 'commander';
import type { z } from 'zod';
import type { operatorKeyRecord } from '../../api/operator/keys.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { parseKeyId, parseName } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, printed } from '../terminal/print.ts';
import { onDatabase } from './on-database.ts';

const PATH = '/api/v1/operator/keys';

type Key = z.output<typeof operatorKeyRecord>;

export function addKeyCommands(program: Command): void {
  program
    .command('create')
    .description('create an operator’s key, on the database, and print it; it cannot be shown again')
    .requiredOption('--name <name>', 'who or what the key is for', parseName)
    .option('--new-pepper', 'WEIR_API_KEY_PEPPER is new: keys made before stop working')
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL and WEIR_API_KEY_PEPPER, as the service has them; beside a\n' +
        'running npm start, neither.\n\nExample:\n  export WEIR_OPERATOR_KEY=$(weir operator create --name ann)',
    )
    .action(onDatabase(async () => (await import('./create-key.ts')).createKey));
  const key = program.command('key').description('list and revoke the keys of operators');
  key
    .command('list')
    .description('list the keys of operators, without their secrets')
    .addHelpText('after', '\nExample:\n  weir operator key list')
    .action(printed(list));
  key
    .command('revoke')
    .description('revoke a key of an operator; it stops working at once')
    .argument('<keyId>', 'key as weir operator key list prints it', parseKeyId)
    .addHelpText('after', '\nExample:\n  weir operator key revoke weir_operator_1a2b3c4d')
    .action(printed(revoke));
}

async function list(): Promise<CommandResult> {
  const keys = await listAll<Key>(PATH, 'keys');
  return {
    json: keys,
    text: formatTable(
      ['key', 'name', 'state', 'created', 'last used', 'revoked by'],
      keys.map((key) => [
        `weir_operator_${key.keyId}`,
        key.name,
        key.revokedAt === null ? 'active' : 'revoked',
        formatTime(key.createdAt),
        formatTime(key.lastUsedAt),
        key.revokedBy,
      ]),
      'There are no keys of operators. Create one with: weir operator create --name <name>',
    ),
  };
}

async function revoke(keyId: string): Promise<CommandResult> {
  const revoked = await callApi<Key>('DELETE', `${PATH}/${encodeURIComponent(keyId)}`);
  return { json: revoked, text: `Revoked ${keyId}: it no longer works.` };
}

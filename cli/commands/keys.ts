import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { apiKeyList, apiKeyRecord, newApiKey } from '../../api/organizations/schemas.ts';
import { KEY_SCOPES } from '../../db/tables/access.ts';
import { callApi } from '../api/call-api.ts';
import { projectPath } from '../api/get-resource.ts';
import { parseFutureDate, parseKeyId, parseName, parsePath } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, printed } from '../terminal/print.ts';

const PROJECT = ['<org/project>', 'project of the key', parsePath('org/project')] as const;

type Options = { name: string; environment: 'live' | 'test'; scope?: string[]; expires?: Date };

export function addKeyCommands(program: Command): void {
  const key = program.command('key').alias('keys').description('create, list and revoke API keys');
  key
    .command('create')
    .description('create an API key and print it; it cannot be shown again')
    .argument(...PROJECT)
    .requiredOption('--name <name>', 'what the key is for', parseName)
    .addOption(
      new Option('--scope <scope...>', 'what the key may do (default: run and webhooks)').choices(KEY_SCOPES),
    )
    .addOption(
      new Option('--environment <environment>', 'environment of the runs that the key starts')
        .choices(['live', 'test'])
        .default('live'),
    )
    .option(
      '--expires <date>',
      'when the key expires, e.g. 2030-01-31 or 2030-01-31T12:00:00Z (default: never)',
      parseFutureDate,
    )
    .addHelpText(
      'after',
      '\nExample:\n  weir key create acme/main --name ci --scope deploy --expires 2030-01-31',
    )
    .action(printed(create));
  key
    .command('list')
    .description('list the keys of a project, without their secrets')
    .argument(...PROJECT)
    .addHelpText('after', '\nExample:\n  weir key list acme/main')
    .action(printed(list));
  key
    .command('revoke')
    .description('revoke a key; it stops working within 10 seconds, usually at once')
    .argument(...PROJECT)
    .argument(
      '<keyId>',
      'key as weir key list prints it, or its 8 characters after weir_live_ or weir_test_',
      parseKeyId,
    )
    .addHelpText('after', '\nExample:\n  weir key revoke acme/main weir_live_1a2b3c4d')
    .action(printed(revoke));
}

async function create(path: string, options: Options): Promise<CommandResult> {
  const { name, environment, scope, expires } = options;
  const body = {
    name,
    environment,
    ...(scope && { scopes: scope }),
    ...(expires && { expires_at: expires }),
  };
  const created = await callApi<z.output<typeof newApiKey>>('POST', await projectPath(path, 'api-keys'), {
    body,
  });
  return { json: created, text: `${created.key}\nKeep the key now: it cannot be shown again.` };
}

async function list(path: string): Promise<CommandResult> {
  const { apiKeys } = await callApi<z.output<typeof apiKeyList>>('GET', await projectPath(path, 'api-keys'));
  return {
    json: apiKeys,
    text: formatTable(
      ['key', 'name', 'scopes', 'state', 'created', 'last used', 'expires'],
      apiKeys.map((key) => [
        `weir_${key.environment}_${key.keyId}`,
        key.name,
        key.scopes.join(' '),
        key.state,
        formatTime(key.createdAt),
        formatTime(key.lastUsedAt),
        formatTime(key.expiresAt),
      ]),
      'The project has no API keys. Create one with: weir key create <org/project> --name <name>',
    ),
  };
}

async function revoke(path: string, keyId: string): Promise<CommandResult> {
  const key = await projectPath(path, `api-keys/${encodeURIComponent(keyId)}`);
  const revoked = await callApi<z.output<typeof apiKeyRecord>>('DELETE', key);
  return {
    json: revoked,
    text: `Revoked ${keyId}: it stops working at once, and within 10 seconds where a process missed that.`,
  };
}

import { type Command, Option } from 'commander';
import { mintApiKey } from '../../api/auth/api-key.ts';
import { addApiKey, endApiKey } from '../../api/organizations/recorded-organizations.ts';
import { toApiKey } from '../../api/organizations/to-records.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import type { Environment } from '../../db/schema.ts';
import { KEY_SCOPES, type KeyScope } from '../../db/tables/access.ts';
import { listApiKeys } from '../../db/tenants/api-keys.ts';
import { parseFutureDate, parseKeyId, parseName, parsePath } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print.ts';
import { keyTable } from '../terminal/tables.ts';
import { apiKeyPepper } from './environment.ts';
import { getProject, onDatabase, operator } from './on-database.ts';

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('create, list and revoke API keys');
  key
    .command('create')
    .description('create an API key and print it; it cannot be shown again')
    .argument('<org/project>', 'project that the key gives access to', parsePath('org/project'))
    .requiredOption('--name <name>', 'what the key is for', parseName)
    .addOption(
      new Option('--environment <environment>', 'environment of the runs that the key starts')
        .choices(['live', 'test'])
        .default('live'),
    )
    .addOption(
      new Option('--scope <scope...>', 'what the key may do (default: run and webhooks)').choices(KEY_SCOPES),
    )
    .option(
      '--expires <date>',
      'when the key expires, e.g. 2030-01-31 or 2030-01-31T12:00:00Z (default: never)',
      parseFutureDate,
    )
    .action(onDatabase(create));
  key
    .command('list')
    .description('list the keys of a project, without their secrets')
    .argument('<org/project>', 'project of the keys', parsePath('org/project'))
    .action(onDatabase(list));
  key
    .command('revoke')
    .description('revoke a key; it stops working within 10 seconds, usually at once')
    .argument('<org/project>', 'project of the key', parsePath('org/project'))
    .argument(
      '<keyId>',
      'key as key list prints it, or its 8 characters after weir_live_ or weir_test_',
      parseKeyId,
    )
    .action(onDatabase(revoke));
}

async function create(
  db: Db,
  path: string,
  options: { name: string; environment: Environment; scope?: KeyScope[]; expires?: Date },
): Promise<CommandResult> {
  const minted = mintApiKey(options.environment, apiKeyPepper());
  const { keyId, secretHmac } = minted;
  const { environment, name, scope: scopes, expires } = options;
  const { id: projectId, organization_id: organizationId } = await getProject(db, path);
  const key = { organizationId, projectId, keyId, environment, name, secretHmac };
  const row = await inTransaction(db, (tx) =>
    addApiKey(tx, operator(), { ...key, ...(scopes && { scopes }), ...(expires && { expiresAt: expires }) }),
  );
  return {
    json: { ...toApiKey(row), key: minted.plaintext },
    text: `${minted.plaintext}\nKeep the key now: it cannot be shown again.`,
  };
}

async function list(db: Db, path: string): Promise<CommandResult> {
  const keys = (await listApiKeys(db, (await getProject(db, path)).id)).map(toApiKey);
  const empty =
    'The project has no API keys. Create one with: weir operator key create <org/project> --name <name>';
  return { json: keys, text: keyTable(keys, 'created by', empty) };
}

async function revoke(db: Db, path: string, keyId: string): Promise<CommandResult> {
  const { id: projectId, organization_id: organizationId } = await getProject(db, path);
  const key = { organizationId, projectId, keyId };
  const row = await inTransaction(db, (tx) => endApiKey(tx, operator(), key));
  return {
    json: toApiKey(row),
    text: `Revoked ${keyId}: it stops working at once, and within 10 seconds where a process missed that.`,
  };
}

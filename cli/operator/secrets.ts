import type { Command } from 'commander';
import { onDatabase } from './on-database.ts';

export function addSecretsCommands(program: Command): void {
  program
    .command('secrets')
    .description('manage the secrets that are stored encrypted')
    .command('reencrypt')
    .description(
      'encrypt all secrets under the first key of WEIR_SECRETS_KEYS; after that only older backups need the other keys',
    )
    .action(onDatabase(async () => (await import('./reencrypt-secrets.ts')).reencryptSecrets));
}

// cli/backup/ copies what Weir stores, and restores it: the database of DATABASE_URL, or the state of `npm start`.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { listReleaseMigrations } from '../../db/list-migrations.ts';
import { readDatabaseUrl } from '../../platform/config/config.ts';
import { hasDatabaseUrl } from '../operator/environment.ts';
import { requireReadable } from '../terminal/files.ts';
import { type CommandResult, note, printed } from '../terminal/print.ts';
import { copyState, restoreState } from './local-copy.ts';

const MEGABYTE = 1_000_000;
const SECRETS = 'WEIR_SECRETS_KEYS and WEIR_API_KEY_PEPPER';

/** Adds `weir backup` and `weir restore`. */
export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('write a backup of the database; the service keeps running')
    .argument('<file>', 'the file to write, such as weir.dump; it must not exist')
    .addHelpText(
      'after',
      '\nBacks up the database of DATABASE_URL with pg_dump. Keep the keys of secrets\n' +
        'and the pepper beside the file: without them nobody can read the secrets in\n' +
        'it, or use its API keys.\n\nWithout DATABASE_URL, it copies the state of a stopped npm start to a folder,\n' +
        'with its secrets.\n\nExample:\n  weir backup weir.dump',
    )
    .action(printed(backup));
  program
    .command('restore')
    .description('restore the database from a backup, while no process of Weir runs')
    .argument('<file>', 'the file, or the folder, of weir backup')
    .option('--replace', 'delete the present contents of the database')
    .addHelpText(
      'after',
      '\nRestores a file into the database of DATABASE_URL, else a folder into the\n' +
        'state of npm start. Start Weir afterwards on a Temporal without its\n' +
        'workflows: a new namespace or a new server (npm start gets one).\n\nExample:\n  weir restore weir.dump',
    )
    .action(printed(restore));
}

async function backup(name: string): Promise<CommandResult> {
  const file = path.resolve(name);
  if (!hasDatabaseUrl()) {
    await copyState(file);
    return {
      json: { folder: file },
      text: `Copied the database and the secrets of npm start to ${file}. Who has that folder can read all secrets.`,
    };
  }
  const { writeBackup } = await import('../../db/backup/write-backup.ts');
  const { takenAt, migrations } = await writeBackup(readDatabaseUrl(), file);
  const known = await listReleaseMigrations();
  const newer = migrations.filter((name) => !known.includes(name));
  if (newer.length > 0)
    note(
      `A newer release has applied ${newer.join(', ')}: this release cannot restore ${file}, that one and later ones can.`,
    );
  const { size: bytes } = await stat(file);
  return {
    json: { file, takenAt, bytes },
    text: `Wrote what was committed by ${takenAt} to ${file} (${formatBytes(bytes)}). Keep beside it: ${SECRETS}.`,
  };
}

async function restore(name: string, { replace = false }: { replace?: boolean }): Promise<CommandResult> {
  const file = path.resolve(name);
  if (!hasDatabaseUrl()) {
    const { hasOwnTemporal } = await restoreState(file, replace);
    const next = hasOwnTemporal
      ? 'npm start continues from there, with an empty Temporal.'
      : 'npm start continues from there; give it a Temporal namespace without its workflows.';
    return { json: { folder: file }, text: `Restored ${file}. ${next}` };
  }
  await requireReadable(name);
  const { restoreBackup } = await import('../../db/backup/restore-backup.ts');
  const { migrated } = await restoreBackup(readDatabaseUrl(), file, { replace });
  return {
    json: { file, migrated },
    text: `Restored ${file}. Start Weir with the ${SECRETS} of then, and a Temporal namespace without its workflows.`,
  };
}

function formatBytes(bytes: number): string {
  return bytes < MEGABYTE ? `${Math.ceil(bytes / 1_000)} KB` : `${(bytes / MEGABYTE).toFixed(1)} MB`;
}

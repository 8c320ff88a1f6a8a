// The work of `weir backup` and `weir restore`.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { listReleaseMigrations } from '../../db/list-migrations.ts';
import { readDatabaseUrl } from '../../platform/config/urls.ts';
import { hasDatabaseUrl } from '../operator/environment.ts';
import { requireReadable } from '../terminal/files.ts';
import { type CommandResult, note } from '../terminal/print.ts';
import { copyState, restoreState } from './local-copy.ts';

const MEGABYTE = 1_000_000;
const SECRETS = 'WEIR_SECRETS_KEYS and WEIR_API_KEY_PEPPER';

export async function backup(name: string): Promise<CommandResult> {
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

export async function restore(
  name: string,
  { replace = false }: { replace?: boolean },
): Promise<CommandResult> {
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

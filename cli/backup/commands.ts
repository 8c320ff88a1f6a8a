// cli/backup/ copies the whole database into a file, and back: that of DATABASE_URL, or that of `npm start` on this machine.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { Progress } from '../../db/backup/write-backup.ts';
import { listReleaseMigrations } from '../../db/list-migrations.ts';
import { stateFolder } from '../api/local-start.ts';
import { requireReadable } from '../terminal/files.ts';
import { type CommandResult, note, printed } from '../terminal/print.ts';
import { hasOwnTemporal, isLocal, restoreLocally, whileDatabaseRuns } from './local-database.ts';

const MEGABYTE = 1_000_000;
const SAY_EVERY_MS = 5_000;
const SECRETS = 'WEIR_SECRETS_KEYS and WEIR_API_KEY_PEPPER';
const EMPTY_NAMESPACE = 'a Temporal namespace without its workflows';

/** Adds `weir backup` and `weir restore`. */
export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('write a snapshot of the whole database to a file; the service keeps running')
    .argument('<file>', 'the file to write, such as weir.tar.gz; it must not exist')
    .addHelpText(
      'after',
      '\nBacks up the database of DATABASE_URL, else that of npm start. Keep the keys\n' +
        'of secrets and the pepper beside the file: without them nobody can read the\n' +
        'secrets in it, or use its API keys.\n\nExample:\n  weir backup weir.tar.gz',
    )
    .action(printed(backup));
  program
    .command('restore')
    .description('restore the database from a backup, while no process of Weir runs')
    .argument('<file>', 'a file of weir backup')
    .option('--replace', 'delete the present contents of the database')
    .addHelpText(
      'after',
      '\nRestores into the database of DATABASE_URL, else into that of npm start.\n' +
        'Start Weir afterwards on a Temporal without its workflows: a new namespace\n' +
        'or a new server (npm start gets one).\n\nExample:\n  weir restore weir.tar.gz',
    )
    .action(printed(restore));
}

async function backup(name: string): Promise<CommandResult> {
  const file = path.resolve(name);
  const { writeBackup } = await import('../../db/backup/write-backup.ts');
  const { takenAt, rows, migrations } = await whileDatabaseRuns((url) =>
    writeBackup(url, file, sayProgress()),
  );
  const known = await listReleaseMigrations();
  const newer = migrations.filter((name) => !known.includes(name));
  if (newer.length > 0)
    note(
      `A newer release has applied ${newer.join(', ')}: this release cannot restore ${file}, that one and later ones can.`,
    );
  const { size: bytes } = await stat(file);
  const beside = isLocal() ? `the .json files of ${stateFolder()}, but not start.json` : SECRETS;
  return {
    json: { file, takenAt, bytes, rows },
    text: `Wrote ${sum(rows)} rows, as they were at ${takenAt}, to ${file} (${formatBytes(bytes)}). Keep beside it: ${beside}.`,
  };
}

async function restore(name: string, { replace }: { replace?: boolean }): Promise<CommandResult> {
  await requireReadable(name);
  const file = path.resolve(name);
  const progress = sayProgress();
  const { restoreBackup } = await import('../../db/backup/restore-backup.ts');
  const work = (url: string) => restoreBackup(url, file, { replace: replace === true, progress });
  const { result, next } = await (isLocal() ? intoOwn(work) : intoGiven(work));
  const { takenAt, rows } = result;
  return {
    json: { file, takenAt, rows },
    text: `Restored ${sum(rows)} rows, as they were at ${takenAt}. ${next}`,
  };
}

async function intoOwn<T>(work: (url: string) => Promise<T>): Promise<{ result: T; next: string }> {
  const { result, unreadable } = await restoreLocally(work);
  if (unreadable !== undefined) note(unreadable);
  const next = hasOwnTemporal()
    ? 'npm start continues from there, with an empty Temporal.'
    : `npm start continues from there; give it ${EMPTY_NAMESPACE}.`;
  return { result, next: unreadable === undefined ? next : 'npm start cannot read its secrets yet.' };
}

async function intoGiven<T>(work: (url: string) => Promise<T>): Promise<{ result: T; next: string }> {
  const next = `Start Weir with the ${SECRETS} of then, and ${EMPTY_NAMESPACE}.`;
  return { result: await whileDatabaseRuns(work), next };
}

/** Says now and then how far a large table is. */
function sayProgress(): Progress {
  let said = Date.now();
  return (table, bytes) => {
    if (Date.now() - said < SAY_EVERY_MS) return;
    said = Date.now();
    note(`  ${table}: ${formatBytes(bytes)}`);
  };
}

function formatBytes(bytes: number): string {
  return bytes < MEGABYTE ? `${Math.ceil(bytes / 1_000)} KB` : `${(bytes / MEGABYTE).toFixed(1)} MB`;
}

function sum(rows: { [table: string]: number }): number {
  return Object.values(rows).reduce((total, count) => total + count, 0);
}

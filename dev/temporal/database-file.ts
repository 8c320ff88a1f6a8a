// The SQLite file of a local Temporal server. The server takes every database file for a complete one, so a marker stands beside
// the file until it is complete; a file that a power loss or a kill left unfinished is begun anew.
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const LOCK_TIMEOUT_MS = 2_000;

const markerOf = (file: string) => `${file}.unfinished`;

/** Removes an unfinished `file`, and marks a new one as unfinished. */
export function beginDatabase(file: string): void {
  const marker = markerOf(file);
  if (existsSync(marker)) for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  if (!existsSync(file)) writeFileSync(marker, '', { mode: 0o600 });
}

/** Has SQLite write its log into a new `file`, which it does by itself once that has 4 MB, and says that the file is complete. */
export function completeDatabase(file: string): void {
  const marker = markerOf(file);
  if (!existsSync(marker)) return;
  try {
    writeLog(file);
    rmSync(marker);
    const folder = openSync(path.dirname(file), 'r');
    fsyncSync(folder);
    closeSync(folder);
  } catch {
    // With the marker the next start begins anew, from which Weir's rows recover too.
  }
}

function writeLog(file: string): void {
  const database = new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS });
  try {
    const outcome = database.prepare('pragma wal_checkpoint(full)').get();
    if (outcome?.busy !== 0) throw new Error('The database is in use.');
  } finally {
    database.close();
  }
}

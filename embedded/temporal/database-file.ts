// What a power loss would leave of a new database, of which the server waits for the disk only once its log has 4 MB.
import { existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const LOCK_TIMEOUT_MS = 2_000;

/** Removes a `file` that was begun and has no tables, since the server takes every file for a complete one. */
export function removeUnfinished(file: string): void {
  if (!existsSync(file)) return;
  const tables = ask(file, 'select 1 from sqlite_schema limit 1');
  if (tables?.length === 0) for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
}

/** Has SQLite write its log into `file`, and waits for the disk. Does nothing where another process is in the way. */
export function checkpoint(file: string): void {
  ask(file, 'pragma wal_checkpoint(full)');
}

/** Returns the rows; undefined where SQLite cannot, of which the server will tell. */
function ask(file: string, statement: string): unknown[] | undefined {
  try {
    const database = new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS });
    try {
      return database.prepare(statement).all();
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

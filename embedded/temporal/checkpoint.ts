import { DatabaseSync } from 'node:sqlite';

const LOCK_TIMEOUT_MS = 2_000;

/**
 * Has SQLite write its log into `file`, and waits for the disk. The server does so only once the log has 4 MB: until then, a power
 * loss would leave a new file without tables. Does nothing where another process is in the way.
 */
export function checkpoint(file: string): void {
  try {
    const database = new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS });
    database.exec('pragma wal_checkpoint(full)');
    database.close();
  } catch {
    // The server does it later.
  }
}

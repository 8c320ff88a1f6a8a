import pg from 'pg';
import { listAppliedMigrations } from '../list-migrations.ts';

const DISK_FULL = '53100';
const NO_RIGHT = '42501';

export const NOT_MIGRATED = 'has not been migrated: run npm run migrate';

export const STANDBY = 'does not accept writes: it is a standby';
export const READ_ONLY = 'does not accept writes: default_transaction_read_only is on';
export const NO_ROOM = 'has no room left on its disk';
export type WriteRefusal = typeof NOT_MIGRATED | typeof STANDBY | typeof READ_ONLY | typeof NO_ROOM;

/**
 * Keeps more rows than fit into memory, so that PostgreSQL writes a temporary file: on a full disk, reads alone
 * succeed.
 */
const PROBE = `
  select set_config('work_mem', '64kB', true);
  select count(*) from generate_series(1, 10000);
  select current_setting('transaction_read_only') = 'on' as read_only, pg_is_in_recovery() as standby`;

/**
 * Finds why the database takes no writes: it is a standby, read-only, its disk is full, or it lacks one of
 * `migrations`. Undefined when it takes writes. Throws without a response within `timeoutMs`. Uses its own
 * connection: a busy pool does not mean an outage.
 */
export async function findWriteRefusal(
  connectionString: string,
  timeoutMs: number,
  migrations: string[] = [],
): Promise<WriteRefusal | undefined> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const results = (await client.query(PROBE)) as unknown as pg.QueryResult[];
    const { read_only: readOnly = true, standby } = results.at(-1)?.rows[0] ?? {};
    if (readOnly) return standby ? STANDBY : READ_ONLY;
    return migrations.length === 0 || (await hasApplied(client, migrations)) ? undefined : NOT_MIGRATED;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === DISK_FULL) return NO_ROOM;
    throw error;
  } finally {
    client.end().catch(() => undefined);
  }
}

/** Whether all of these were applied. Migrations of newer releases do not matter. */
async function hasApplied(client: pg.Client, migrations: string[]): Promise<boolean> {
  try {
    const applied = await listAppliedMigrations(client);
    return migrations.every((name) => applied.includes(name));
  } catch (error) {
    // A user with access to the tables of the service alone.
    if (error instanceof pg.DatabaseError && error.code === NO_RIGHT) return true;
    throw error;
  }
}

import pg from 'pg';

const DISK_FULL = '53100';

/** Keeps more rows than fit into memory, so that PostgreSQL writes a temporary file: reads alone succeed on a full disk. */
const PROBE = `
  select set_config('work_mem', '64kB', true);
  select count(*) from generate_series(1, 10000);
  show transaction_read_only`;

/**
 * Finds why the database takes no writes: it is a standby or read-only, or its disk is full; undefined when it takes them.
 * Throws when it does not answer within `timeoutMs`. Uses a connection of its own: a pool that is in use does not mean that the
 * database is away.
 */
export async function findWriteRefusal(
  connectionString: string,
  timeoutMs: number,
): Promise<string | undefined> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const results = (await client.query(PROBE)) as unknown as pg.QueryResult[];
    return results.at(-1)?.rows[0]?.transaction_read_only === 'off' ? undefined : 'does not accept writes';
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === DISK_FULL) return 'has no room left on its disk';
    throw error;
  } finally {
    client.end().catch(() => undefined);
  }
}

import pg from 'pg';

/**
 * Whether the database accepts writes, which a standby or read-only database does not. Throws when it does not answer within
 * `timeoutMs`. Uses a connection of its own: a pool that is in use does not mean that the database is away.
 */
export async function acceptsWrites(connectionString: string, timeoutMs: number): Promise<boolean> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query('show transaction_read_only');
    return rows[0]?.transaction_read_only === 'off';
  } finally {
    client.end().catch(() => undefined);
  }
}

import pg from 'pg';

/**
 * Whether the database takes writes: not while it is a standby, or set read-only. Throws when it does not answer within
 * `timeoutMs`. Asks on a connection of its own: that all others are in use does not mean that it is away.
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

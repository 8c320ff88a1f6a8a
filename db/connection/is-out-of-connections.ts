import pg from 'pg';

const TOO_MANY_CONNECTIONS = '53300';

/** Advice, as the end of a sentence. */
export const FREE_CONNECTIONS =
  'end sessions that nobody needs (pg_stat_activity; some connections are kept for superusers), raise max_connections or the limit of the user or database, or lower WEIR_DATABASE_CONNECTIONS';

/** Whether PostgreSQL rejected a connection because all allowed ones are in use. Open connections still work. */
export function isOutOfConnections(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === TOO_MANY_CONNECTIONS;
}

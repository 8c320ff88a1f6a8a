import pg from 'pg';

const TOO_MANY_CONNECTIONS = '53300';

/** Says what to do about it, as the end of a sentence. */
export const FREE_CONNECTIONS =
  'end sessions that nobody needs (pg_stat_activity; some connections are kept for superusers), raise max_connections or the limit of the user or database, or lower WEIR_DATABASE_CONNECTIONS';

/** Whether PostgreSQL refused a connection because all that it allows are in use; those that are open go on working. */
export function isOutOfConnections(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === TOO_MANY_CONNECTIONS;
}

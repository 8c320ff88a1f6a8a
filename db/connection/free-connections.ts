/** Advice, as the end of a sentence. */
export const FREE_CONNECTIONS =
  'end sessions that nobody needs (pg_stat_activity; some connections are kept for superusers), raise max_connections or the limit of the user or database, or lower WEIR_DATABASE_CONNECTIONS';

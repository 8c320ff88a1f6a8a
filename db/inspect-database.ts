import pg from 'pg';
import { listAppliedMigrations, listReleaseMigrations } from './list-migrations.ts';

/** The state of a database, for `weir doctor`. `now.at` is its clock; to read it took `takenMs`. */
type DatabaseFacts = {
  version: string;
  pending: string[];
  unknown: string[];
  mayChangeSchema: boolean;
  mayWrite: boolean;
  connections: { used: number; max: number };
  now: { at: Date; takenMs: number };
};

/** The kind of other users' sessions is hidden from those who may not look into them. */
const FACTS = `
  select current_setting('server_version') as version,
    has_schema_privilege(current_schema(), 'CREATE') as "mayChangeSchema",
    coalesce((
      select bool_and(has_table_privilege(pg_class.oid, privilege))
      from pg_class, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege
      where relowner = (select relowner from pg_class where oid = to_regclass('run')) and relkind in ('r', 'p')
        and relnamespace = current_schema()::regnamespace and not relispartition and relname not like 'kysely%'
    ), true) as "mayWrite",
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as max,
    (select count(*)::int from pg_stat_activity
      where usesysid is not null and coalesce(backend_type, 'client backend') = 'client backend') as used`;

/** Reads the facts over a connection of its own. Rejects when the database does not answer within `timeoutMs`. */
export async function inspectDatabase(connectionString: string, timeoutMs: number): Promise<DatabaseFacts> {
  const limits = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
  const client = new pg.Client({ connectionString, ...limits });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query(FACTS);
    const { version, mayChangeSchema, mayWrite, max, used } = rows[0];
    const known = await listReleaseMigrations();
    // A user who may not write may not read these either.
    const applied = mayWrite ? await listAppliedMigrations(client) : known;
    const begun = performance.now();
    const clock = await client.query('select clock_timestamp() as now');
    return {
      version,
      mayChangeSchema,
      mayWrite,
      connections: { used, max },
      pending: known.filter((name) => !applied.includes(name)),
      unknown: applied.filter((name) => !known.includes(name)),
      now: { at: clock.rows[0].now, takenMs: performance.now() - begun },
    };
  } finally {
    // This connection may be the last free connection.
    await client.end().catch(() => undefined);
  }
}

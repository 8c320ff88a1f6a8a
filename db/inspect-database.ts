import { promises as fs } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

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
  select current_setting('server_version') as version, to_regclass('kysely_migration') is not null as migrated,
    has_schema_privilege(current_schema(), 'CREATE') as "mayChangeSchema",
    coalesce((
      select bool_and(has_table_privilege(to_regclass('run'), privilege))
      from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege), true) as "mayWrite",
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
    const { version, migrated, mayChangeSchema, mayWrite, max, used } = rows[0];
    const names =
      mayWrite && migrated
        ? await client.query('select name from kysely_migration order by name')
        : undefined;
    const applied = new Set<string>((names?.rows ?? []).map((row) => row.name));
    const known = await listMigrations();
    const begun = performance.now();
    const clock = await client.query('select clock_timestamp() as now');
    return {
      ...{ version, mayChangeSchema, mayWrite, connections: { used, max } },
      pending: names || !migrated ? known.filter((name) => !applied.has(name)) : [],
      unknown: [...applied].filter((name) => !known.includes(name)),
      now: { at: clock.rows[0].now, takenMs: performance.now() - begun },
    };
  } finally {
    client.end().catch(() => undefined);
  }
}

/** Lists the migrations of this release. */
export async function listMigrations(): Promise<string[]> {
  const files = await fs.readdir(path.join(import.meta.dirname, 'migrations'));
  return files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.basename(file, '.ts'))
    .toSorted();
}

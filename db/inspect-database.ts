import { promises as fs } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

/** The state of a database, for `weir doctor`. `now.at` is its clock; to read it took `takenMs`. */
export type DatabaseFacts = {
  version: string;
  pending: string[];
  unknown: string[];
  mayChangeSchema: boolean;
  mayWrite: boolean;
  connections: { used: number; max: number };
  now: { at: Date; takenMs: number };
};

const FACTS = `
  select current_setting('server_version') as version, to_regclass('kysely_migration') is not null as migrated,
    has_schema_privilege(current_schema(), 'CREATE') as "mayChangeSchema",
    coalesce(has_table_privilege(to_regclass('run'), 'SELECT, INSERT, UPDATE, DELETE'), true) as "mayWrite",
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as max,
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`;

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

async function listMigrations(): Promise<string[]> {
  const files = await fs.readdir(path.join(import.meta.dirname, 'migrations'));
  return files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.basename(file, '.ts'))
    .toSorted();
}

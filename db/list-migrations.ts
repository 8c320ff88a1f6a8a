import { promises as fs } from 'node:fs';
import path from 'node:path';

type Client = { query(text: string): Promise<{ rows: { name: string }[] }> };

/** Lists the names of the applied migrations; none for a database without a schema. */
export async function listAppliedMigrations(client: Client): Promise<string[]> {
  const { rows: tables } = await client.query(`select where to_regclass('kysely_migration') is not null`);
  if (tables.length === 0) return [];
  const { rows } = await client.query('select name from kysely_migration order by name');
  return rows.map(({ name }) => name);
}

/** Lists the names of the migrations of this release. */
export async function listReleaseMigrations(): Promise<string[]> {
  const files = await fs.readdir(path.join(import.meta.dirname, 'migrations'));
  return files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.basename(file, '.ts'))
    .toSorted();
}

import { promises as fs } from 'node:fs';
import path from 'node:path';
import { FileMigrationProvider, Migrator } from 'kysely/migration';
import { buildIndexes } from './build-indexes.ts';
import type { Db } from './connect.ts';

/** Migrates the database to the newest schema; returns the migrations it applied. Several processes may do so at once. */
export async function migrate(db: Db): Promise<string[]> {
  const migrator = new Migrator({
    db,
    provider: new FileMigrationProvider({
      fs,
      path,
      migrationFolder: path.join(import.meta.dirname, 'migrations'),
    }),
    // Branches that each add one may be merged in either order.
    allowUnorderedMigrations: true,
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw error;
  await buildIndexes(db);
  return (results ?? []).map((result) => result.migrationName);
}

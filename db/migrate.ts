// main of `npm run migrate`
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { FileMigrationProvider, Migrator } from 'kysely/migration';
import { orExit } from '../or-exit.ts';
import { connect, type Db } from './connect.ts';

/** Brings the database to the newest schema. Safe to run from several processes at once. */
export async function migrate(db: Db): Promise<string[]> {
  const migrator = new Migrator({
    db,
    provider: new FileMigrationProvider({
      fs,
      path,
      migrationFolder: path.join(import.meta.dirname, 'migrations'),
    }),
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw error;
  return (results ?? []).map((result) => result.migrationName);
}

if (import.meta.main) {
  const applied = await orExit(async () => {
    const url = process.env.DATABASE_URL ?? '';
    if (!/^postgres(ql)?:/.test(url))
      throw new Error(
        'DATABASE_URL is not set to a postgres:// address: migrate needs the database to update.',
      );
    const db = connect(url);
    return migrate(db).finally(() => db.destroy());
  });
  console.log(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.');
}

import { promises as fs } from 'node:fs';
import path from 'node:path';
import { CompiledQuery } from 'kysely';
import { FileMigrationProvider, type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import { log } from '../platform/observability/log.ts';
import type { Db, Tx } from './connect.ts';
import { listAppliedMigrations } from './list-applied-migrations.ts';
import { withLockTimeout } from './with-lock-timeout.ts';
import { withoutTimeouts } from './without-timeouts.ts';

const FILES = new FileMigrationProvider({
  fs,
  path,
  migrationFolder: path.join(import.meta.dirname, 'migrations'),
});

/**
 * Migrates the database to the newest schema; returns the migrations it applied, each in a transaction of its own. Several
 * processes may do so at once, beside a service that is in use. `patienceMs`: how long it tries to lock a table.
 */
export async function migrate(
  db: Db,
  { patienceMs, provider = FILES }: { patienceMs?: number; provider?: MigrationProvider } = {},
): Promise<string[]> {
  const files = await provider.getMigrations();
  const migrations = { ...files, ...(await listNewerMigrations(db, files)) };
  return withoutTimeouts(db, async (connection) => {
    const applied: string[] = [];
    for (;;) {
      const next = await withLockTimeout(db, migrations, patienceMs, (watched) =>
        applyNext(connection, watched),
      );
      if (next === undefined) break;
      applied.push(next);
    }
    return applied;
  });
}

/** Lists what a newer release has applied: after a roll-back, it stays as it is. */
async function listNewerMigrations(
  db: Db,
  known: Record<string, Migration>,
): Promise<Record<string, Migration>> {
  const query = (text: string) => db.executeQuery<{ name: string }>(CompiledQuery.raw(text));
  const newer = (await listAppliedMigrations({ query })).filter((name) => !known[name]);
  if (newer.length > 0)
    log.warn(`A newer release has applied ${newer.join(', ')}, which this one leaves as it is.`);
  return Object.fromEntries(newer.map((name) => [name, { up: async () => undefined }]));
}

async function applyNext(db: Db, migrations: Record<string, Migration>): Promise<string | undefined> {
  const { error, results } = await createMigrator(db, migrations).migrateUp();
  if (error) throw error;
  return results?.[0]?.migrationName;
}

/** Applies the migrations of these names alone, in a transaction that may be the caller's. Throws when one is not known here. */
export async function migrateTo(
  db: Db | Tx,
  names: string[],
  provider: MigrationProvider = FILES,
): Promise<void> {
  const known = await provider.getMigrations();
  const unknown = names.filter((name) => !known[name]);
  if (unknown.length > 0)
    throw new Error(
      `This version of Weir does not know migration ${unknown.join(', ')}: a newer one made it.`,
    );
  const migrations = Object.fromEntries(Object.entries(known).filter(([name]) => names.includes(name)));
  const { error } = await createMigrator(db, migrations).migrateToLatest();
  if (error) throw error;
}

function createMigrator(db: Db | Tx, migrations: Record<string, Migration>): Migrator {
  // Branches that each add one may be merged in either order.
  return new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    allowUnorderedMigrations: true,
  });
}

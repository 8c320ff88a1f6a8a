import { promises as fs } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, sql } from 'kysely';
import { FileMigrationProvider, type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import { log } from '../platform/observability/log.ts';
import type { Db } from './connect.ts';
import { isLockTimeout } from './connection/database-errors.ts';
import { listAppliedMigrations } from './list-migrations.ts';
import { withoutTimeouts } from './without-timeouts.ts';

const HOLDERS_MAX = 5;

/** Longer than the second (`deadlock_timeout`) after which PostgreSQL ends an autovacuum in the way. */
const LOCK_TIMEOUT_MS = 2_000;
const PAUSE_MS = 3_000;

const PATIENCE_MS = 180_000;
const LOOK_MS = 500;

type Migrations = Record<string, Migration>;

type Waiting = { migration: string; holders: string[] };

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

function createMigrator(db: Db, migrations: Record<string, Migration>): Migrator {
  // Branches that each add one may be merged in either order.
  return new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    allowUnorderedMigrations: true,
  });
}

/**
 * Calls `apply` with the migrations until it succeeds; each gives up when a lock takes over 2 s. A statement that
 * waits for a table's lock blocks everybody after it, so a migration waits briefly, lets the others pass, and tries
 * again. Throws after `patienceMs`, naming the holders of the lock. Nothing has changed then, and a repetition may
 * succeed.
 */
async function withLockTimeout<T>(
  db: Db,
  migrations: Migrations,
  patienceMs = PATIENCE_MS,
  apply: (migrations: Migrations) => Promise<T>,
): Promise<T> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const waiting: Waiting = { migration: '', holders: [] };
    try {
      return await apply(watchLocks(db, migrations, waiting));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const problem = `Migration ${waiting.migration} waits for a lock of ${describe(waiting.holders)}.`;
      if (performance.now() >= giveUpAt)
        throw new Error(`${problem} Nothing of it was applied: end what holds the lock, and migrate again.`, {
          cause: error,
        });
      log.warn(`${problem} It lets others pass, and is tried again.`);
      await sleep(PAUSE_MS);
    }
  }
}

/** The timeout is set in the migration, because a process that waits for another to migrate has none. */
function watchLocks(db: Db, migrations: Migrations, waiting: Waiting): Migrations {
  const watched = Object.entries(migrations).map(([name, migration]): [string, Migration] => [
    name,
    {
      async up(tx) {
        waiting.migration = name;
        const { rows } = await sql<{ pid: number }>`
          select pg_backend_pid() as pid, set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true)`.execute(
          tx,
        );
        const look = setInterval(() => {
          listLockHolders(
            db,
            rows.map(({ pid }) => pid),
          ).then(
            (holders) => {
              if (holders.length > 0) waiting.holders = holders;
            },
            () => undefined,
          );
        }, LOOK_MS);
        try {
          await migration.up(tx);
        } finally {
          clearInterval(look);
        }
      },
    },
  ]);
  return Object.fromEntries(watched);
}

function describe(holders: string[]): string {
  return holders.length > 0 ? holders.join('; ') : 'a session that is not known';
}

/**
 * Describes the sessions that hold the locks for which the sessions `waiting` wait, or are before them in the queue, the oldest
 * first: their users, addresses and last statements' first words, never values.
 */
async function listLockHolders(db: Db, waiting: number[]): Promise<string[]> {
  const { rows } = await sql<{ holder: string }>`
    select case when blocking = 0 then 'a prepared transaction (pg_prepared_xacts)'
      else concat('process ', blocking, ' of PostgreSQL (', concat_ws(', ',
        coalesce(usename, backend_type), nullif(application_name, ''), host(client_addr),
        state, 'last statement ' || upper(substring(query from '^\\s*([A-Za-z]+)')),
        'transaction of ' || floor(extract(epoch from clock_timestamp() - xact_start)) || ' s'), ')')
      end as holder
    from (
        select distinct unnest(pg_blocking_pids(waits)) as blocking from unnest(${waiting}::int[]) as waits
      ) as blockers
      left join pg_stat_activity on pid = blocking
    where blocking <> all(${waiting}::int[])
    order by xact_start
    limit ${HOLDERS_MAX}`.execute(db);
  return rows.map((row) => row.holder);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { log } from '../platform/observability/log.ts';
import type { Db } from './connect.ts';
import { isLockTimeout } from './connection/is-lock-timeout.ts';
import { listLockHolders } from './list-lock-holders.ts';

/** Longer than the second (`deadlock_timeout`) after which PostgreSQL ends an autovacuum in the way. */
const LOCK_TIMEOUT_MS = 2_000;
const PAUSE_MS = 3_000;
const PATIENCE_MS = 180_000;
const LOOK_MS = 500;

type Migrations = Record<string, Migration>;
type Waiting = { migration: string; holders: string[] };

/**
 * Calls `apply` with the migrations until it succeeds; each gives up when a lock takes over 2 s. A statement that
 * waits for a table's lock blocks everybody after it, so a migration waits briefly, lets the others pass, and tries
 * again. Throws after `patienceMs`, naming the holders of the lock. Nothing has changed then, and a repetition may
 * succeed.
 */
export async function withLockTimeout<T>(
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

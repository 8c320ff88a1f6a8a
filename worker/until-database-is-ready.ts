import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../db/connect.ts';
import { findWriteRefusal, NOT_MIGRATED } from '../db/connection/find-write-refusal.ts';
import { listReleaseMigrations } from '../db/list-release-migrations.ts';

const DATABASE_RETRY_INTERVAL_MS = 2_000;
const TIMEOUT_MS = 5_000;

/**
 * Resolves once the database answers and has been migrated, or the signal aborts. A worker that asked for work before, with a
 * wrong password for instance, would hold up what other workers could carry out. The pool logs that the database is away, and the
 * health check what it lacks.
 */
export async function untilDatabaseIsReady(
  db: Db,
  { databaseUrl }: { databaseUrl: string },
  signal?: AbortSignal,
): Promise<void> {
  const migrations = await listReleaseMigrations();
  while (!signal?.aborted) {
    try {
      await sql`select 1`.execute(db);
      if ((await findWriteRefusal(databaseUrl, TIMEOUT_MS, migrations)) !== NOT_MIGRATED) return;
    } catch {
      // It is asked again.
    }
    await sleep(DATABASE_RETRY_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

// db/upkeep holds what workers do now and then: finding unfinished rows, cancelling the work of deleted projects, retention.
// This file: which process reconciles, so that ten workers do not ask ten times, and workers of one engine only. Those of another
// see none of its workflows, and would start all again.
import { sql } from 'kysely';
import type { Db } from '../connect.ts';

/** The advisory lock of the process that reconciles. */
const LOCK = sql`hashtextextended('reconciler', 0)`;
/** Workers of another engine take over once those of the one before have been silent for so long. */
const SILENT = sql`interval '1 minute'`;
/** Twice in the time after which PostgreSQL ends an idle transaction, and with it the lock of a process that is frozen. */
const KEEP_MS = 12_000;

/**
 * Does `work` unless another process does so, or has done so in the last `restSeconds`. Returns the name of another engine whose
 * workers reconcile this database, if any.
 */
export async function withReconcilerLease(
  db: Db,
  { engine, restSeconds }: { engine: string; restSeconds: number },
  work: () => Promise<void>,
): Promise<string | undefined> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      locked: boolean;
    }>`select pg_try_advisory_xact_lock(${LOCK}) as locked`.execute(tx);
    if (!rows[0]?.locked) return undefined;
    // Outside the transaction, which would hold back the news of runs (`recorded`) if it had an id.
    const { numAffectedRows } = await sql`
      insert into reconciler (engine) values (${engine})
      on conflict (is_only) do update set engine = excluded.engine, renewed_at = now()
      where reconciler.renewed_at < now() - ${SILENT} or reconciler.engine = excluded.engine
        and (reconciler.renewed_at <= now() - ${restSeconds} * interval '1 second' or reconciler.renewed_at > now())`.execute(
      db,
    );
    if (!numAffectedRows) {
      const { engine: holder } = await db.selectFrom('reconciler').select('engine').executeTakeFirstOrThrow();
      return holder === engine ? undefined : holder;
    }
    const keeping = setInterval(() => void sql`select 1`.execute(tx).catch(() => undefined), KEEP_MS);
    await work().finally(() => clearInterval(keeping));
    return undefined;
  });
}

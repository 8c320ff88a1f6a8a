import { sql } from 'kysely';
import { connect, type Db } from '../../db/connect.ts';
import { preparePartitions } from '../../db/upkeep/prepare-partitions.ts';
import { withoutTimeouts } from '../../db/without-timeouts.ts';

/** Prepares partitions on a connection of its own, whose statements may take longer than others, until `signal` aborts. */
export async function preparePartitionsApart(
  db: Db,
  { databaseUrl, retentionDays }: { databaseUrl: string; retentionDays: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const own = connect(databaseUrl, 1);
  try {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(own);
    signal.throwIfAborted();
    const cancel = () => {
      void sql`select pg_cancel_backend(${rows[0]?.pid})`.execute(db).catch(() => undefined);
    };
    signal.addEventListener('abort', cancel, { once: true });
    await withoutTimeouts(own, (connection) => preparePartitions(connection, retentionDays)).finally(() =>
      signal.removeEventListener('abort', cancel),
    );
  } finally {
    await own.destroy();
  }
}

import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import {
  DAY_MS,
  isWithin,
  listPartitions,
  PARTITIONED_TABLES,
  type Partition,
  type PartitionedTable,
  readClock,
  withTableLocks,
} from './partitions.ts';

/** A partition whose runs are still being deleted is left alone for so long. */
const ORPHANS_AFTER_MS = DAY_MS;
/** Runs or deliveries whose rows one statement looks at. */
const BATCH = 500;

/**
 * Drops the partitions of the times before the last `retentionDays` days whose runs, or deliveries, have all been deleted. Where
 * some are left, the rows of all others are deleted one by one. Several processes may do this. Answers how many were dropped.
 */
export async function dropPartitions(
  db: Db,
  retentionDays: number,
  { signal, now: at }: { signal?: AbortSignal; now?: Date } = {},
): Promise<number> {
  const now = at ?? (await readClock(db));
  let dropped = 0;
  for (const table of PARTITIONED_TABLES)
    for (const partition of await listPartitions(db, table)) {
      if (signal?.aborted) return dropped;
      const overForMs = now.getTime() - retentionDays * DAY_MS - partition.to.getTime();
      if (!partition.attached || overForMs < 0) continue;
      if (await hasOwners(db, table, partition)) {
        if (overForMs >= ORPHANS_AFTER_MS) await deleteOrphans(db, table, partition, signal);
        continue;
      }
      await withTableLocks(db, (tx) => sql`drop table if exists ${sql.table(partition.name)}`.execute(tx));
      dropped += 1;
    }
  return dropped;
}

/** Whether anything is left to which rows of the partition belong. Nothing that begins with a time of the past comes later. */
async function hasOwners(db: Db, { owner }: PartitionedTable, partition: Partition): Promise<boolean> {
  const { rows } = await sql`
    select from ${sql.table(owner.table)} where ${isWithin(owner.key, partition)} limit 1`.execute(db);
  return rows.length > 0;
}

async function deleteOrphans(
  db: Db,
  { key, owner }: PartitionedTable,
  { name }: Partition,
  signal?: AbortSignal,
): Promise<void> {
  const column = sql.ref(key);
  for (let after: string | undefined = ''; after !== undefined && !signal?.aborted; ) {
    const { rows }: { rows: { last: string | null; read: number }[] } = await sql<{
      last: string | null;
      read: number;
    }>`
      with looked_at as (
        select distinct ${column} as id from ${sql.table(name)}
        where ${after === '' ? sql`true` : sql`${column} > ${after}::uuid`} order by 1 limit ${BATCH}
      ), deleted as (
        delete from ${sql.table(name)} where ${column} in (
          select id from looked_at
          where not exists (select from ${sql.table(owner.table)} as owner where owner.${sql.ref(owner.key)} = id)
        )
      )
      select max(id::text) as last, count(*)::int as read from looked_at`.execute(db);
    after = rows[0]?.read === BATCH ? (rows[0].last ?? undefined) : undefined;
  }
}

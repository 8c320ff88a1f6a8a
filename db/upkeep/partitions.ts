// Tables in partitions by the time that their ids begin with. What has no such id is in the default partition, and so is what
// was there before the first partition began. prepare-partitions.ts makes them ahead of time; drop-partitions.ts drops them.
import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { OPEN_STATUSES } from '../../flow/delivery.ts';
import type { Db, Tx } from '../connect.ts';
import { isLockTimeout } from '../connection/database-errors.ts';
import { firstIdOf } from '../timed-id.ts';

export type PartitionedTable = {
  table: 'block_run' | 'webhook_attempt';
  key: string;
  /** The owners of its rows, after which these are deleted, and when more rows may come to one of them. */
  owner: { table: 'run' | 'webhook_delivery'; key: string; isOpen: RawBuilder<boolean> };
};

export const PARTITIONED_TABLES: PartitionedTable[] = [
  {
    table: 'block_run',
    key: 'execution_id',
    owner: { table: 'run', key: 'execution_id', isOpen: sql`finished_at is null` },
  },
  {
    table: 'webhook_attempt',
    key: 'delivery_id',
    owner: {
      table: 'webhook_delivery',
      key: 'id',
      isOpen: sql`status = any(${sql.val([...OPEN_STATUSES])}::text[])`,
    },
  },
];

/** The partition with the ids from that of `from` up to that of `to`, exclusive; `attached`: whether it is in use. */
export type Partition = { name: string; from: Date; to: Date; attached: boolean };

export const DAY_MS = 24 * 60 * 60 * 1000;
/** Few, since the database plans for all of them in each query that finds its runs before their blocks. */
const KEPT_MAX = 8;

/** Returns how many milliseconds a partition spans, in whole days, so that about eight hold what is kept. */
export function partitionMs(retentionDays: number): number {
  return Math.ceil(retentionDays / KEPT_MAX) * DAY_MS;
}

/** Returns the midnight (UTC) before a time. */
export function startOfDay(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
}

/** Reads the database's clock, which is one for all workers. */
export async function readClock(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now()`.execute(db);
  return (rows[0] as { now: Date }).now;
}

/** Names a partition by its first and the last day but its own; the name is where its range is read from. */
export function partitionName({ table }: PartitionedTable, from: Date, to: Date): string {
  return [table, ...[from, to].map((day) => day.toISOString().slice(0, 10).replaceAll('-', ''))].join('_');
}

/** Lists the partitions of a table, the oldest first, without the default one. */
export async function listPartitions(db: Db | Tx, { table }: PartitionedTable): Promise<Partition[]> {
  const { rows } = await sql<{ name: string; from: Date; to: Date; attached: boolean }>`
    select relname as name, relispartition as attached,
      to_timestamp(extract(epoch from to_date(split_part(dates, '_', 1), 'YYYYMMDD'))) as from,
      to_timestamp(extract(epoch from to_date(split_part(dates, '_', 2), 'YYYYMMDD'))) as to
    from pg_class cross join lateral substr(relname, ${table.length + 2}) as dates
    where relnamespace = current_schema()::regnamespace and relkind = 'r'
      and relname ~ ${`^${table}_\\d{8}_\\d{8}$`}
    order by relname`.execute(db);
  return rows;
}

/** The condition that a column holds an id of this range. */
export function isWithin(column: string, { from, to }: Pick<Partition, 'from' | 'to'>): RawBuilder<boolean> {
  return sql`(${sql.ref(column)} >= ${sql.lit(firstIdOf(from))}::uuid and ${sql.ref(column)} < ${sql.lit(firstIdOf(to))}::uuid)`;
}

const LOCK_TRIES = 50;

/**
 * Does `work`, which locks tables, in a transaction that waits only moments for each lock, since others wait behind it; tried
 * again some times.
 */
export async function withTableLocks<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await db.transaction().execute(async (tx) => {
        await sql`set local lock_timeout = '100ms'`.execute(tx);
        return await work(tx);
      });
    } catch (error) {
      if (!isLockTimeout(error) || tried === LOCK_TRIES) throw error;
      await sleep(Math.random() * 400);
    }
  }
}

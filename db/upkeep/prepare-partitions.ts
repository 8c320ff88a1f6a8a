import { sql } from 'kysely';
import type { Db, Tx } from '../connect.ts';
import { firstIdOf, timeOfId } from '../timed-id.ts';
import {
  DAY_MS,
  isWithin,
  listPartitions,
  PARTITIONED_TABLES,
  type Partition,
  type PartitionedTable,
  partitionMs,
  partitionName,
  readClock,
  startOfDay,
  withTableLocks,
} from './partitions.ts';

type Range = Pick<Partition, 'from' | 'to'>;

/** How many partitions are made at a time, and how few are left when the next are made. */
const MADE = 4;
const LEFT_MIN = 2;
/** A partition begins this much later than it is made at the earliest: reading all that is there must not take longer. */
const LEAD_MS = DAY_MS;

/**
 * Makes the next partitions of each table before their time comes; does nothing while there are enough. Without retention it
 * only finishes those that were begun. Reads and writes go on meanwhile. One process at a time may do this. It may be cut off
 * anywhere, and goes on from there when it is repeated: until then, ids of the time to come are refused, which is a day away at
 * least.
 */
export async function preparePartitions(db: Db, retentionDays: number | undefined, at?: Date): Promise<void> {
  const now = at ?? (await readClock(db));
  for (const table of PARTITIONED_TABLES) {
    const partitions = await listPartitions(db, table);
    const ranges =
      retentionDays !== undefined && partitions.every(({ attached }) => attached)
        ? nextRanges(partitions, retentionDays, now)
        : [];
    if (ranges.length > 0) await withTableLocks(db, (tx) => announce(tx, table, ranges));
    const announced = (await listPartitions(db, table)).filter(({ attached }) => !attached);
    if (announced.length === 0) continue;
    const rest = defaultOf(table);
    await sql`alter table ${rest} validate constraint ${constraintOf(table)}`.execute(db);
    for (const partition of announced) await withTableLocks(db, (tx) => attach(tx, table, partition));
    await withTableLocks(db, (tx) =>
      sql`alter table ${rest} drop constraint ${constraintOf(table)}`.execute(tx),
    );
    // For the planner: the database analyzes each partition by itself, never all of them together.
    await sql`analyze ${sql.table(table.table)}`.execute(db);
  }
}

/**
 * Returns the ranges of the next partitions; none while enough of them are left. Partitions that begin far ahead do not count: a
 * clock that was wrong may have made them.
 */
function nextRanges(partitions: Partition[], retentionDays: number, now: Date): Range[] {
  const width = partitionMs(retentionDays);
  const farthest = now.getTime() + MADE * width;
  const made = partitions.findLast(({ from }) => from.getTime() <= farthest)?.to.getTime() ?? 0;
  if (made >= now.getTime() + LEFT_MIN * width) return [];
  const earliest = startOfDay(new Date(now.getTime() + LEAD_MS + DAY_MS)).getTime();
  return rangesFrom(Math.max(made, earliest), width);
}

function rangesFrom(start: number, width: number): Range[] {
  return Array.from({ length: MADE }, (_, index) => ({
    from: new Date(start + index * width),
    to: new Date(start + (index + 1) * width),
  }));
}

/**
 * Makes the tables and has the default partition refuse their rows, so that it can be proved to have none, without a lock,
 * before they are attached. Ids without a time may lie in their ranges by chance, some four of a million: their rows move into
 * the tables now, and cannot be read until these are attached.
 */
async function announce(tx: Tx, table: PartitionedTable, wanted: Range[]): Promise<void> {
  const made = await listPartitions(tx, table);
  const isFree = ({ from, to }: Range) => made.every((other) => other.to <= from || other.from >= to);
  const ranges = (await avoidOpenOwners(tx, table, wanted)).filter(isFree);
  if (ranges.length === 0) return;
  const nameOf = ({ from, to }: Range) => sql.table(partitionName(table, from, to));
  for (const range of ranges)
    await sql`create table ${nameOf(range)} (like ${sql.table(table.table)} including all)`.execute(tx);
  const rest = defaultOf(table);
  await sql`lock table ${rest} in access exclusive mode`.execute(tx);
  for (const range of ranges)
    await sql`
      with moved as (delete from ${rest} where ${isWithin(table.key, range)} returning *)
      insert into ${nameOf(range)} select * from moved`.execute(tx);
  await sql`alter table ${rest} drop constraint if exists ${constraintOf(table)}`.execute(tx);
  await sql`
    alter table ${rest} add constraint ${constraintOf(table)} check (not ${isWithin(table.key, spanOf(ranges))}) not valid`.execute(
    tx,
  );
}

/** Puts ranges off until they have no id, by chance, of anything to which more rows may come. */
async function avoidOpenOwners(tx: Tx, table: PartitionedTable, ranges: Range[]): Promise<Range[]> {
  const { owner } = table;
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(owner.key)} as id from ${sql.table(owner.table)}
    where ${isWithin(owner.key, spanOf(ranges))} and ${owner.isOpen} order by 1 desc limit 1`.execute(tx);
  const [open] = rows;
  const [first] = ranges;
  if (!open || !first) return ranges;
  const start = startOfDay(timeOfId(open.id)).getTime() + DAY_MS;
  return avoidOpenOwners(tx, table, rangesFrom(start, first.to.getTime() - first.from.getTime()));
}

function spanOf(ranges: Range[]): Range {
  return { from: (ranges[0] as Range).from, to: (ranges.at(-1) as Range).to };
}

async function attach(tx: Tx, table: PartitionedTable, { name, from, to }: Partition): Promise<void> {
  await sql`
    alter table ${sql.table(table.table)} attach partition ${sql.table(name)}
      for values from (${sql.lit(firstIdOf(from))}) to (${sql.lit(firstIdOf(to))})`.execute(tx);
}

function defaultOf({ table }: PartitionedTable) {
  return sql.table(`${table}_default`);
}

function constraintOf({ table }: PartitionedTable) {
  return sql.id(`${table}_default_range`);
}

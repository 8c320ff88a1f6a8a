import { sql } from 'kysely';
import type { Db } from './connect.ts';

const HOLDERS_MAX = 5;

/**
 * Describes the sessions that hold the locks for which the sessions `waiting` wait, or are before them in the queue, the oldest
 * first: their users, addresses and last statements' first words, never values.
 */
export async function listLockHolders(db: Db, waiting: number[]): Promise<string[]> {
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

/** Lists the sessions of this database whose statements began `seconds` ago or earlier and wait for the lock of a table or row. */
export async function listLongWaiting(db: Db, seconds: number): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'
      and wait_event in ('relation', 'tuple', 'transactionid')
      and query_start < clock_timestamp() - make_interval(secs => ${seconds})`.execute(db);
  return rows.map((row) => row.pid);
}

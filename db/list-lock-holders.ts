import { sql } from 'kysely';
import type { Db } from './connect.ts';

const HOLDERS_MAX = 5;

/**
 * Describes the sessions that hold the lock for which session `pid` waits, or are before it in the queue, the oldest first:
 * their users, addresses and last statements' first words, never values.
 */
export async function listLockHolders(db: Db, pid: number): Promise<string[]> {
  const { rows } = await sql<{ holder: string }>`
    select case when blocking = 0 then 'a prepared transaction (pg_prepared_xacts)'
      else concat('process ', blocking, ' of PostgreSQL (', concat_ws(', ',
        coalesce(usename, backend_type), nullif(application_name, ''), host(client_addr),
        state, 'last statement ' || upper(substring(query from '^\\s*([A-Za-z]+)')),
        'transaction of ' || floor(extract(epoch from clock_timestamp() - xact_start)) || ' s'), ')')
      end as holder
    from (select distinct unnest(pg_blocking_pids(${pid})) as blocking) as blockers
      left join pg_stat_activity on pid = blocking
    order by xact_start
    limit ${HOLDERS_MAX}`.execute(db);
  return rows.map((row) => row.holder);
}

import type pg from 'pg';

/**
 * Renumbers `recorded` of the block executions of unfinished runs, in the old order and below all future values of this server.
 * Old values are transaction ids of the backed-up server. A new server begins near 750, so a reader at an old value would miss
 * all later block executions. Ended runs keep their values, so that only a small part of the largest table is rewritten.
 */
export async function renumberRecorded(client: pg.ClientBase): Promise<void> {
  await client.query(`
    with placed as (
      select block.execution_id, block.block_key, row_number() over (
        partition by root.execution_id order by block.recorded desc, block.finished_at desc
      ) as place
      from run root
      join run call on root.execution_id = coalesce(call.continues, call.execution_id)
      join block_run block on block.execution_id = call.execution_id
      -- A session may go on after its end.
      where root.mode = 'step' or root.status not in ('completed', 'failed')
    )
    -- The oldest blocks of a run with more blocks than this server has made transactions share a number.
    update block_run set recorded = greatest(1, pg_current_xact_id()::text::bigint - place)::text::xid8
    from placed
    where block_run.execution_id = placed.execution_id and block_run.block_key = placed.block_key`);
  await client.query(`update block_under_way set recorded = '1'`);
}

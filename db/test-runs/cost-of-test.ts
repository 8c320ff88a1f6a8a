import { sql } from 'kysely';

/** The cost of a `test_result`, its judge's included, in microcredits: as it was kept, or as its blocks add up. */
export const COST_OF_TEST = sql<number>`coalesce(test_result.cost_microcredits, (
  select sum(block.cost_microcredits) from block_run as block
  where block.execution_id in (test_result.execution_id, test_result.judge_execution_id)
), 0)::bigint`;

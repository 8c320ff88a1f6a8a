import { type NotNull, sql } from 'kysely';
import type { Db } from '../connect.ts';

/** Lists the test runs of a flow, newest first, from the one after `after`, with how many cases have come to what. */
export function listTestRuns(
  db: Db,
  flowId: string,
  { after, limit }: { after?: string | undefined; limit: number },
) {
  return db
    .selectFrom('test_run')
    .select(['id', 'status', 'started_by', 'started_at', 'finished_at'])
    .select((eb) => {
      const results = eb
        .selectFrom('test_result as result')
        .whereRef('result.test_run_id', '=', 'test_run.id');
      const count = (status: string) =>
        results.where(sql<boolean>`result.status = ${status}`).select(sql<number>`count(*)::int`.as('count'));
      return [
        results.select(sql<number>`count(*)::int`.as('count')).as('total'),
        count('passed').as('passed'),
        count('failed').as('failed'),
        count('error').as('errors'),
        count('pending').as('pending'),
        results
          .innerJoin('block_run as block', (join) =>
            join.on(sql<boolean>`block.execution_id in (result.execution_id, result.judge_execution_id)`),
          )
          .select(sql<number>`coalesce(sum(block.cost_microcredits), 0)::bigint`.as('sum'))
          .as('cost_microcredits'),
      ];
    })
    .$narrowType<{
      [name in 'total' | 'passed' | 'failed' | 'errors' | 'pending' | 'cost_microcredits']: NotNull;
    }>()
    .where('flow_id', '=', flowId)
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(started_at, id) < (select last.started_at, last.id from test_run as last where last.id = ${after})`,
      ),
    )
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
export type TestRunRow = Awaited<ReturnType<typeof listTestRuns>>[number];

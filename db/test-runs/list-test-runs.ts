import { sql } from 'kysely';
import type { Db } from '../connect.ts';
import { COST_OF_TEST } from './cost-of-test.ts';

/** Lists the test runs of a flow, newest first, starting after `after`, with the number of cases for each result. */
export function listTestRuns(
  db: Db,
  flowId: string,
  { after, limit }: { after?: string | undefined; limit: number },
) {
  const page = db
    .selectFrom('test_run')
    .select(['id', 'status', 'started_by', 'started_at', 'finished_at'])
    .where('flow_id', '=', flowId)
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(started_at, id) < (select last.started_at, last.id from test_run as last where last.id = ${after})`,
      ),
    )
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  const count = (status: string) =>
    sql<number>`count(*) filter (where test_result.status = ${sql.lit(status)})::int`;
  return db
    .selectFrom(page.as('page'))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('test_result')
          .select([
            sql<number>`count(*)::int`.as('total'),
            count('passed').as('passed'),
            count('failed').as('failed'),
            count('error').as('errors'),
            count('pending').as('pending'),
            sql<number>`coalesce(sum(${COST_OF_TEST}), 0)::bigint`.as('cost_microcredits'),
          ])
          .whereRef('test_result.test_run_id', '=', 'page.id')
          .as('counts'),
      (join) => join.onTrue(),
    )
    .selectAll('page')
    .select(['total', 'passed', 'failed', 'errors', 'pending', 'cost_microcredits'])
    .orderBy('page.started_at', 'desc')
    .orderBy('page.id', 'desc')
    .execute();
}
export type TestRunRow = Awaited<ReturnType<typeof listTestRuns>>[number];

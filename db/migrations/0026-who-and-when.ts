import { type Kysely, sql } from 'kysely';

/** Who has published each version and started each test run, the order of a flow's test runs, and each test case's last result. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table flow_version add column published_by text`,
  `alter table test_run add column started_by text`,
  `alter table test_case add column last_execution_id uuid`,
  `create index test_run_newest on test_run (flow_id, started_at desc, id desc)`,
  // The audit log knows of those that there are.
  `alter table flow_version disable trigger flow_version_immutable`,
  `update flow_version set published_by = entry.actor from audit_entry entry
    where entry.action = 'flow.publish' and entry.resource_id = flow_version.flow_id::text
      and entry.details ->> 'version' = flow_version.version::text`,
  `alter table flow_version enable trigger flow_version_immutable`,
  `update test_run set started_by = entry.actor from audit_entry entry
    where entry.action = 'test_run.start' and entry.resource_id = test_run.id::text`,
  `update test_case set last_execution_id = last.execution_id from (
    select distinct on (result.test_case_id) result.test_case_id, result.execution_id
    from test_result result join test_run on test_run.id = result.test_run_id
    order by result.test_case_id, test_run.started_at desc, test_run.id desc
  ) last where last.test_case_id = test_case.id`,
];

// Fills a database with runs as years of use leave them, for tests and measurements of what grows with them.
import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { countUsage } from '../../db/usage/count-usage.ts';

/**
 * Inserts `count` runs that began in the last 30 days, each with one block, some with deliveries, ledger entries, audit entries,
 * test runs and keys. Six in ten belong to the first published version of the flow `busyFlowId`, the others to all published
 * versions in turn. Most are live, came through `/execute` or `/jobs` and completed or failed; every other kind is among the
 * oldest thousandth (`count` / 1000, at least 200), and costs a hundred times as much, so that whoever walks from the newest
 * meets all others first.
 */
export async function seedRuns(
  db: Db,
  { count, busyFlowId }: { count: number; busyFlowId: string },
): Promise<void> {
  // One connection, on which triggers and foreign keys rest: the rows below are right without them.
  await db.connection().execute(async (connection) => {
    // The vacuum below marks no page as visible to all whose rows' commit is still to be written.
    await sql`set synchronous_commit = on`.execute(connection);
    await sql`set session_replication_role = replica`.execute(connection);
    try {
      for (const statement of statements(count, busyFlowId)) await statement.execute(connection);
      while ((await countUsage(connection, 10_000)) > 0);
    } finally {
      await sql`set session_replication_role = origin`.execute(connection);
    }
    await sql`vacuum analyze`.execute(connection);
    await sql`reset synchronous_commit`.execute(connection);
  });
}

const BUSY_SHARE = 6;
/** Rows of `seed_run` that are step-through sessions: those that wait, and some that have ended. */
const IS_SESSION = sql`(status = 'in_progress' or rare and status in ('failed', 'completed') and g / 5 % 4 = 3)`;

function statements(count: number, busyFlowId: string) {
  const rare = Math.max(200, count / 1000);
  return [
    sql`
      create temporary table seed_flow as
        select row_number() over (order by flow.id <> ${busyFlowId}, flow.id, version.version) - 1 as n,
          flow.id as flow_id, version.id as flow_version_id, project.id as project_id, project.organization_id
        from flow_version version join flow on flow.id = version.flow_id join project on project.id = flow.project_id
          join organization on organization.id = project.organization_id
        where version.version is not null and organization.deleted_at is null`,
    sql`
      create temporary table seed_run as
        select g, timed_id(started_at) as execution_id, g <= ${rare} as rare, started_at,
          case when g % 10 < ${BUSY_SHARE} then 0 else g / 10 % (select count(*) from seed_flow) end as n,
          case when g > ${rare} then case when g % 20 = 0 then 'failed' else 'completed' end
            else (array['started', 'tool_calls_required', 'in_progress', 'failed', 'completed'])[g % 5 + 1] end as status
        from generate_series(1, ${count}) g, lateral (
          select now() - interval '30 days' + g * interval '30 days' / ${count + 1} as started_at
        ) as time`,
    sql`
      insert into run (execution_id, organization_id, project_id, flow_id, flow_version_id, mode, environment, status, input,
        result, error, started_at, finished_at, key_id)
      select execution_id, organization_id, project_id, flow_id, flow_version_id,
        case when ${IS_SESSION} then 'step' when not rare then case when g % 3 = 0 then 'jobs' else 'execute' end
          else (array['execute', 'jobs', 'test'])[g / 5 % 3 + 1] end,
        case when rare and g % 2 = 0 then 'test' else 'live' end, status,
        '{"message":"a message of the usual length","parameters":{},"block_overrides":{}}',
        case status when 'completed' then json_build_object('out', 'a result of the usual length') end,
        case status when 'failed' then '{"code":"INTERNAL_ERROR","message":"failed","reason":"error"}'::json end,
        started_at, case when status in ('completed', 'failed') then started_at + interval '1 second' end,
        case when g % 2 = 0 then case when rare then 'rareKey0' else 'busyKey0' end end
      from seed_run join seed_flow using (n)`,
    // A step-through session has calls; every third has one under way, and so counts as started.
    sql`
      insert into run (execution_id, organization_id, project_id, flow_id, flow_version_id, mode, environment, status, input,
        started_at, continues, step_from, step_to, concludes)
      select timed_id(started_at), organization_id, project_id, flow_id, flow_version_id, 'step', 'live',
        case when g % 3 = 0 then 'started' else 'completed' end,
        '{"message":"","parameters":{},"block_overrides":{}}', started_at, execution_id, 0, 1, false
      from seed_run join seed_flow using (n) where ${IS_SESSION}`,
    sql`
      insert into block_run (execution_id, block_key, step_id, name, processor_type, status, input, output, model,
        prompt_tokens, completion_tokens, cost_microcredits, latency_ms, attempts, started_at, finished_at)
      select execution_id, 'ask', 'ask', 'ask', 'llm', 'completed', '{"ref":"$message"}', '"an output of the usual length"',
        'demo/echo', 100, 20, case when rare then 2100 else 21 end, 300, 1, started_at, started_at + interval '1 second'
      from seed_run where status in ('completed', 'failed')`,
    sql`
      insert into ledger_entry (organization_id, entry_key, kind, amount_microcredits, execution_id, created_at)
      select organization_id, 'charge/' || execution_id || '/ask', 'charge', -21, execution_id, started_at
      from seed_run join seed_flow using (n) where g % 3 = 0`,
    sql`
      create temporary table seed_delivery as
        select g, timed_id(started_at) as id, execution_id, organization_id, project_id, started_at
        from seed_run join seed_flow using (n) where status = 'completed' and g % 5 = 0`,
    sql`
      insert into webhook_delivery (id, organization_id, project_id, execution_id, event_type, target_url, status, attempt,
        response_status, last_attempted_at, created_at, check_at)
      select id, organization_id, project_id, execution_id, 'flow.completed', 'https://receiver.example/hook',
        case when g <= ${10 * rare} then 'failed_retry' when g % 30 = 0 then 'dead_letter' else 'succeeded' end, 1, 200,
        started_at, started_at, now() + interval '1 hour'
      from seed_delivery`,
    sql`
      insert into webhook_attempt (delivery_id, round, attempt, started_at, duration_ms, response_status, response_body)
      select id, 1, 1, started_at, 40, 200, 'ok' from seed_delivery`,
    sql`
      insert into audit_entry (organization_id, actor, action, resource_id, details, request_id, created_at)
      select organization_id, 'user-1', 'project.update', project_id::text, '{"name":"Main"}', gen_random_uuid(), started_at
      from seed_run join seed_flow using (n) where g % 10 = 3`,
    sql`
      insert into test_run (id, flow_id, flow_version_id, status, started_at, finished_at)
      select gen_random_uuid(), flow_id, flow_version_id, 'completed', started_at, started_at + interval '1 minute'
      from seed_run join seed_flow using (n) where g % 2 = 0`,
    sql`
      insert into idempotency_key (project_id, endpoint, key, digest, execution_id, created_at)
      select project_id, 'execute', 'key-' || execution_id, '\\x00', execution_id, now() - interval '1 hour'
      from seed_run join seed_flow using (n) where g % 20 = 7`,
    sql`
      insert into usage_pending (execution_id, at, call_ended, runs, failures, cancelled, refused)
      select execution_id, started_at, true, 1, (status = 'failed')::int, 0, 0
      from seed_run where status in ('completed', 'failed')`,
    sql`drop table seed_delivery, seed_run, seed_flow`,
  ];
}

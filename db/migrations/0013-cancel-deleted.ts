import { type Kysely, sql } from 'kysely';

/**
 * Work of a deleted project ends with it: what is under way is found by project and by organization, no run comes into a
 * deleted project, and none that ends after the deletion adds a delivery. A test run can be cancelled.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create index run_open_by_project on run (project_id)
    where status in ('started', 'tool_calls_required', 'in_progress')`,
  `create index webhook_delivery_open_by_organization on webhook_delivery (organization_id)
    where status in ('pending', 'in_flight', 'failed_retry')`,
  `create index project_deleted on project (deleted_at) where deleted_at is not null`,

  `alter table test_run
    add column cancel_requested_at timestamptz,
    drop constraint test_run_status_check,
    add constraint test_run_status_check check (status in ('started', 'completed', 'cancelled'))`,

  // Waits for a deletion that is under way, and sees what it did; a deletion waits for runs that came first.
  `create function refuse_run_of_deleted_project() returns trigger language plpgsql as $$
    begin
      perform from project where id = new.project_id and deleted_at is null for key share;
      if not found then
        raise exception 'the project is deleted'
          using errcode = 'foreign_key_violation', constraint = 'run_project_not_deleted';
      end if;
      return new;
    end $$`,
  `create trigger run_of_project before insert on run for each row
    execute function refuse_run_of_deleted_project()`,

  `create or replace function add_webhook_delivery() returns trigger language plpgsql as $$
    begin
      insert into webhook_delivery (organization_id, execution_id, event_type, target_url)
        select new.organization_id, new.execution_id, 'flow.' || new.status, new.callback_url
        from project where id = new.project_id and deleted_at is null;
      return new;
    end $$`,

  // Work that an earlier release let go on; the reconciler tells the engine.
  `update run set cancel_requested_at = now(),
      status = case when run.status = 'started' then 'started' else 'failed' end,
      error = case when run.status = 'started' then run.error else
        '{"code":"CANCELLED","message":"The run was cancelled.","reason":"error"}'::json end,
      finished_at = case when run.status = 'started' then run.finished_at else now() end,
      pause = null
    from project
    where project.id = run.project_id and project.deleted_at is not null
      and run.status in ('started', 'tool_calls_required', 'in_progress') and run.cancel_requested_at is null`,
  `update test_run set cancel_requested_at = now()
    from flow join project on project.id = flow.project_id
    where flow.id = test_run.flow_id and project.deleted_at is not null and test_run.status = 'started'`,
  `update webhook_delivery set status = 'failed_permanent', next_attempt_at = null,
      error_message = 'Its project was deleted before this was delivered.'
    from run, project
    where run.execution_id = webhook_delivery.execution_id and project.id = run.project_id
      and project.deleted_at is not null
      and webhook_delivery.status in ('pending', 'in_flight', 'failed_retry')`,
];

import { type Kysely, sql } from 'kysely';

/**
 * How many runs an organization may have under way: 0 for any number; null, for those that there are, for the service's default.
 * The function is called while a run is inserted. It counts by the indexes of the runs of each flow, so that neither runs that
 * have ended nor those that wait for their caller are looked at.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table organization add column runs_under_way_max integer`,
  `create function organization_within_quota(organization uuid, call uuid, most integer) returns uuid
  language plpgsql stable as $$
  begin
    if (
      select count(*) from (
        select from project join flow on flow.project_id = project.id cross join lateral (
          select from run
          where run.flow_id = flow.id and run.status = 'started' and run.continues is null and run.parked_at is null
          union all
          select from run
          where run.flow_id = flow.id and run.status = 'started' and run.continues is not null and run.parked_at is null
        ) as under_way
        where project.organization_id = organization
        limit most
      ) as counted
    ) >= most and not exists (select from run where run.execution_id = call) then
      raise exception 'too many runs are under way' using constraint = 'runs_under_way_max';
    end if;
    return organization;
  end $$`,
];

import { type Kysely, sql } from 'kysely';

/**
 * Runs under way are counted by an index of their own (`run_under_way`, db/build-indexes.ts): those of an organization lie side
 * by side in it, however many flows it has. It holds neither runs that have ended nor those that wait for their caller.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create or replace function organization_within_quota(organization uuid, call uuid, most integer) returns uuid
  language plpgsql stable as $$
  begin
    if (
      select count(*) from (
        select from run
        where run.organization_id = organization and run.status = 'started' and run.parked_at is null
        limit most
      ) as under_way
    ) >= most and not exists (select from run where run.execution_id = call) then
      raise exception 'too many runs are under way' using constraint = 'runs_under_way_max';
    end if;
    return organization;
  end $$`,
];

import { type Kysely, sql } from 'kysely';

/**
 * A delivery names the project of its run, so that an index leads to the newest of a project. Those that were there before are
 * filled by db/webhooks/fill-delivery-projects.ts.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table webhook_delivery add column project_id uuid`,
  `create or replace function add_webhook_delivery() returns trigger language plpgsql as $$
    begin
      insert into webhook_delivery (organization_id, project_id, execution_id, event_type, target_url)
        select new.organization_id, new.project_id, new.execution_id, 'flow.' || new.status, new.callback_url
        from project where id = new.project_id and deleted_at is null;
      return new;
    end $$`,
];

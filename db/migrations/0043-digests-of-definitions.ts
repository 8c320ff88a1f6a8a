import { type Kysely, sql } from 'kysely';

/**
 * Drafts and versions have a digest of their text, so that a list of flows compares no definitions of megabytes. Those that were
 * written before have none until they are written again, and are compared as text.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table flow add column draft_digest bytea`,
  `alter table flow_version add column definition_digest bytea`,
  `create function digest_draft() returns trigger language plpgsql as $$
    begin
      new.draft_digest := sha256(convert_to(new.draft::text, 'UTF8'));
      return new;
    end $$`,
  `create function digest_definition() returns trigger language plpgsql as $$
    begin
      new.definition_digest := sha256(convert_to(new.definition::text, 'UTF8'));
      return new;
    end $$`,
  `create trigger flow_draft_digest before insert or update of draft on flow
    for each row execute function digest_draft()`,
  // Snapshots of drafts, which are inserted for each test run, are compared with nothing.
  `create trigger flow_version_definition_digest before insert on flow_version
    for each row when (new.version is not null) execute function digest_definition()`,
];

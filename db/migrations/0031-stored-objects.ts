import { type Kysely, sql } from 'kysely';

/**
 * Outputs in an object store. A row is there before its object, and goes after it, so that no object is forgotten. It has no
 * foreign key: runs may be deleted in any way, and what they leave here is found.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table stored_object (
    execution_id uuid not null,
    block_key text not null,
    sha256 text not null,
    location text not null,
    bytes integer not null,
    linked boolean not null default false,
    created_at timestamptz not null default now(),
    doomed_at timestamptz,
    primary key (execution_id, block_key, sha256)
  )`,
  `create unique index stored_object_linked on stored_object (execution_id, block_key) where linked`,
  `create index stored_object_unlinked on stored_object (created_at) where not linked and doomed_at is null`,
  `create index stored_object_doomed on stored_object (doomed_at) where doomed_at is not null`,
  // Called after record_block_run in the same statement: what that has recorded is known by its transaction.
  `create function link_output(p_execution_id uuid, p_block_key text, p_sha256 text) returns void
  language plpgsql as $$
  begin
    if exists (select from block_run where execution_id = p_execution_id and block_key = p_block_key
        and recorded = pg_current_xact_id() and status <> 'failed') then
      update stored_object set linked = true
        where execution_id = p_execution_id and block_key = p_block_key and sha256 = p_sha256 and doomed_at is null;
      if not found then
        raise exception 'the object of this output is being deleted' using errcode = 'WE001';
      end if;
    end if;
  end $$`,
];

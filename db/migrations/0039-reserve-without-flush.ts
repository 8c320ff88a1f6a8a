import { type Kysely, sql } from 'kysely';

/**
 * The transaction that begins a model call commits without waiting for the disk, and so holds the lock on the organization's
 * balance for a shorter time. A crash of PostgreSQL can lose what it committed in the last half second: the reservation of a
 * call under way, whose charge then takes what the balance has, as always. Charges wait for the disk.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`create or replace function begin_model_call(p_execution_id uuid, p_block_key text, p_provider text,
    p_organization_id uuid, p_microcredits bigint, p_maximum bigint,
    out refusal text, out failure json, out spent bigint, out reserved bigint, out available bigint,
    out sent boolean, out secret text, out again boolean)
  language plpgsql as $$
  declare
    carried record;
  begin
    perform set_config('synchronous_commit', 'off', true);
    select cancel_requested_at, finished_at, p_provider = any (model_key_providers) as sent into carried
      from run where execution_id = p_execution_id for share;
    refusal := case
      when not found then 'missing'
      when carried.cancel_requested_at is not null then 'cancelled'
      when carried.finished_at is not null then 'ended'
      when exists (select from block_run b where b.execution_id = p_execution_id and b.block_key = p_block_key
        and b.status in ('completed', 'paused')) then 'recorded' end;
    if refusal is not null then return; end if;
    sent := coalesce(carried.sent, false);
    if sent then return; end if;
    select k.secret into secret from model_key k
      where k.organization_id = p_organization_id and k.provider = p_provider;
    if found then return; end if;
    again := exists (select from reservation r
      where r.execution_id = p_execution_id and r.block_key = p_block_key);
    select r.refusal, r.failure, r.spent, r.reserved, r.available into refusal, failure, spent, reserved, available
      from reserve_credits(p_execution_id, p_block_key, p_organization_id, p_microcredits, p_maximum) r;
  end $$`)
    .execute(db);
}

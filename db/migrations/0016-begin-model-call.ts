import { type Kysely, sql } from 'kysely';

/**
 * One statement before a request to a model instead of two: it finds whether the caller or its organization brought a key
 * for the provider, and reserves the credits only when neither did. It also refuses a block that was recorded meanwhile, and
 * tells whether an earlier attempt has left its reservation behind: it was lost with its worker, and may have asked the model.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`create function begin_model_call(p_execution_id uuid, p_block_key text, p_provider text,
    p_organization_id uuid, p_microcredits bigint, p_maximum bigint,
    out refusal text, out failure json, out spent bigint, out reserved bigint, out available bigint,
    out sent boolean, out secret text, out again boolean)
  language plpgsql as $$
  declare
    carried record;
  begin
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

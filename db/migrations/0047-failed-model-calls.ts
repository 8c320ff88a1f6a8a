import { type Kysely, sql } from 'kysely';

/**
 * A block that failed after its model had answered is not asked again by a later attempt, whoever pays for the tokens: with an
 * own key, the caller or the organization does.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create or replace function begin_model_call(p_execution_id uuid, p_block_key text, p_provider text,
    p_organization_id uuid, p_microcredits bigint, p_maximum bigint,
    out refusal text, out failure json, out spent bigint, out reserved bigint, out available bigint,
    out sent boolean, out secret text, out again boolean)
  language plpgsql as $$
  declare
    carried record;
    earlier record;
  begin
    perform set_config('synchronous_commit', 'off', true);
    select cancel_requested_at, finished_at, p_provider = any (model_key_providers) as sent into carried
      from run where execution_id = p_execution_id for share;
    refusal := case
      when not found then 'missing'
      when carried.cancel_requested_at is not null then 'cancelled'
      when carried.finished_at is not null then 'ended' end;
    if refusal is not null then return; end if;
    select b.status, b.error, b.prompt_tokens > 0 or b.completion_tokens > 0 as was_answered into earlier
      from block_run b where b.execution_id = p_execution_id and b.block_key = p_block_key;
    refusal := case
      when earlier.status in ('completed', 'paused') then 'recorded'
      when earlier.status = 'failed' and earlier.was_answered then 'failed' end;
    failure := case when refusal = 'failed' then earlier.error end;
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
  end $$`,
  `create or replace function record_block_run(p_execution_id uuid, p_block_key text, p_step_id text, p_name text,
    p_processor_type text, p_status text, p_input json, p_output json, p_error json, p_model text,
    p_prompt_tokens integer, p_completion_tokens integer, p_cost_microcredits bigint, p_latency_ms integer,
    p_attempts integer, p_started_at timestamptz, p_finished_at timestamptz,
    p_result json, p_charged_to uuid, p_maximum bigint,
    out recorded boolean, out cancelled boolean)
  language plpgsql as $$
  declare
    carried record;
    cost bigint := p_cost_microcredits;
    held bigint;
    balance bigint;
  begin
    recorded := false;
    cancelled := false;
    if p_charged_to is not null then
      -- Locked at once as strongly as it will be needed: two who share it could not both go on to change it.
      if p_result is null then
        select cancel_requested_at, finished_at, coalesce(continues, execution_id) as root into strict carried
          from run where execution_id = p_execution_id for share;
      else
        select cancel_requested_at, finished_at, coalesce(continues, execution_id) as root into strict carried
          from run where execution_id = p_execution_id for no key update;
      end if;
      cancelled := carried.cancel_requested_at is not null;
      if cancelled or carried.finished_at is not null then cost := 0; end if;
      -- Before the reservation, as reserve_credits locks them: in another order, each could wait for the other.
      if cost > 0 then
        select balance_microcredits into strict balance
          from organization where id = p_charged_to for no key update;
      end if;
      delete from reservation where execution_id = p_execution_id and block_key = p_block_key
        returning microcredits into held;
      if carried.finished_at is not null or (cancelled and p_error is null) then return; end if;
    else
      -- In place of the foreign key: a run that is locked is not deleted, and one that is deleted gets no more blocks.
      perform from run where execution_id = p_execution_id for key share;
      if not found then raise no_data_found; end if;
    end if;
    if cost > 0 then
      -- What was not reserved for it is reserved for others.
      cost := least(cost, balance, coalesce(held, cost));
      if p_maximum is not null then
        cost := least(cost, greatest(0, p_maximum
          - (select c.spent from credits_of_run(carried.root, p_execution_id, p_block_key) c)));
      end if;
    end if;
    insert into block_run as b (execution_id, block_key, step_id, name, processor_type, status, input, output, error,
        model, prompt_tokens, completion_tokens, cost_microcredits, latency_ms, attempts, started_at, finished_at)
      values (p_execution_id, p_block_key, p_step_id, p_name, p_processor_type, p_status, p_input, p_output, p_error,
        p_model, p_prompt_tokens, p_completion_tokens, cost, p_latency_ms, p_attempts, p_started_at, p_finished_at)
      on conflict on constraint block_run_pkey do update
        set step_id = excluded.step_id, name = excluded.name, processor_type = excluded.processor_type,
          status = excluded.status, input = excluded.input, output = excluded.output, error = excluded.error,
          model = excluded.model, prompt_tokens = excluded.prompt_tokens,
          completion_tokens = excluded.completion_tokens, cost_microcredits = excluded.cost_microcredits,
          latency_ms = excluded.latency_ms, attempts = excluded.attempts, started_at = excluded.started_at,
          finished_at = excluded.finished_at, recorded = default
        where b.status = 'failed' and b.cost_microcredits = 0 and b.prompt_tokens = 0 and b.completion_tokens = 0;
    recorded := found;
    if recorded and cost > 0 then
      insert into ledger_entry (organization_id, entry_key, kind, amount_microcredits, execution_id)
        values (p_charged_to, 'charge/' || p_execution_id || '/' || p_block_key, 'charge', -cost, p_execution_id);
      update organization set balance_microcredits = balance_microcredits - cost where id = p_charged_to;
    end if;
    if recorded and p_result is not null then
      update run set status = 'completed', finished_at = p_finished_at, result = p_result
        where execution_id = p_execution_id and status = 'started' and cancel_requested_at is null;
      recorded := found;
    end if;
    -- A run whose cancellation was asked for meanwhile ends with that, whatever its last block has answered.
    if p_result is not null and not recorded then
      cancelled := exists (select from run
        where execution_id = p_execution_id and status = 'started' and cancel_requested_at is not null);
    end if;
  end $$`,
];

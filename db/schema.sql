-- Written by `npm run schema-dump` from the database that the migrations make. Not for editing.

CREATE OR REPLACE FUNCTION public.add_failed_attempt(p_attempts jsonb, p_code text, p_message text, p_took_ms double precision)
 RETURNS jsonb
 LANGUAGE sql
AS $function$
    select case when jsonb_array_length(known) < 13 then known else known - 3 end || jsonb_build_object(
        'number', coalesce((known -> -1 ->> 'number')::integer, 0) + 1,
        'startedAt', clock_timestamp() - p_took_ms * interval '1 millisecond', 'endedAt', clock_timestamp(),
        'code', p_code, 'message', p_message)
      from (select coalesce(p_attempts, '[]') as known) as listed
  $function$;

CREATE OR REPLACE FUNCTION public.add_webhook_delivery()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into webhook_delivery (organization_id, project_id, execution_id, event_type, target_url)
        select new.organization_id, new.project_id, new.execution_id, 'flow.' || new.status, new.callback_url
        from project where id = new.project_id and deleted_at is null;
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION public.begin_model_call(p_execution_id uuid, p_block_key text, p_provider text, p_organization_id uuid, p_microcredits bigint, p_maximum bigint, OUT refusal text, OUT failure json, OUT spent bigint, OUT available bigint, OUT other_at timestamp with time zone, OUT sent boolean, OUT secret text, OUT again boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
  declare
    carried record;
    earlier record;
  begin
    perform set_config('synchronous_commit', 'off', true);
    select cancel_requested_at, status, p_provider = any (model_key_providers) as sent,
      model_keys ->> p_provider as model_key into carried
      from run where execution_id = p_execution_id for share;
    refusal := case
      when not found then 'missing'
      when carried.cancel_requested_at is not null then 'cancelled'
      when carried.status <> 'started' then 'ended' end;
    if refusal is not null then return; end if;
    select b.status, b.error, b.prompt_tokens > 0 or b.completion_tokens > 0 as was_answered into earlier
      from block_run b where b.execution_id = p_execution_id and b.block_key = p_block_key;
    refusal := case
      when earlier.status in ('completed', 'paused') then 'recorded'
      when earlier.status = 'failed' and earlier.was_answered then 'failed' end;
    failure := case when refusal = 'failed' then earlier.error end;
    if refusal is not null then return; end if;
    sent := coalesce(carried.sent, false);
    if sent then
      secret := carried.model_key;
      return;
    end if;
    select k.secret into secret from model_key k
      where k.organization_id = p_organization_id and k.provider = p_provider;
    if found then return; end if;
    again := exists (select from reservation r
      where r.execution_id = p_execution_id and r.block_key = p_block_key);
    select r.refusal, r.failure, r.spent, r.available, r.other_at into refusal, failure, spent, available, other_at
      from reserve_credits(p_execution_id, p_block_key, p_organization_id, p_microcredits, p_maximum) r;
  end $function$;

CREATE OR REPLACE FUNCTION public.credits_of_run(p_root uuid, p_but_execution uuid, p_but_block text, OUT spent bigint, OUT reserved bigint, OUT reserved_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
  declare
    parts uuid[] := array(select execution_id from run where execution_id = p_root or continues = p_root);
  begin
    select coalesce(sum(b.cost_microcredits), 0) into spent from block_run b where b.execution_id = any (parts);
    select coalesce(sum(r.microcredits), 0), max(r.reserved_at) filter (where r.microcredits > 0)
      into reserved, reserved_at from reservation r
      where r.execution_id = any (parts) and (r.execution_id, r.block_key) <> (p_but_execution, p_but_block);
  end $function$;

CREATE OR REPLACE FUNCTION public.digest_definition()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      new.definition_digest := digest_json(new.definition);
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION public.digest_draft()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      new.draft_digest := digest_json(new.draft);
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION public.digest_json(value json)
 RETURNS bytea
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
    begin
      return sha256(convert_to(value::jsonb::text, 'UTF8'));
    exception when others then
      return sha256(convert_to(value::text, 'UTF8'));
    end $function$;

CREATE OR REPLACE FUNCTION public.error_group_of_run(flow uuid, outcome text, error json)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
    declare
      written text := error::text;
      message text;
    begin
      if outcome not in ('failed', 'refused') then return null; end if;
      message := left(substring(written from '"message": ?"((?:[^"\\]|\\.)*)"'), 1000);
      message := regexp_replace(message, '\\"([^"\\]|\\[^"])*\\"|“[^”]*”|`[^`]*`|(?<![0-9A-Za-z])''[^'']*''(?![0-9A-Za-z])', '"', 'g');
      message := regexp_replace(message, '[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}', '0', 'gi');
      message := regexp_replace(message, '[0-9A-Za-z_]*[0-9][0-9A-Za-z_]*([.,:-][0-9A-Za-z_]*[0-9][0-9A-Za-z_]*)*', '0', 'g');
      return left(encode(sha256(convert_to(
        flow || '/' || coalesce(substring(written from '"code": ?"([A-Z_]+)"'), '')
          || '/' || coalesce(substring(written from '"step_id": ?"((?:[^"\\]|\\.)*)"'), '')
          || '/' || coalesce(left(message, 400), ''), 'UTF8')), 'hex'), 12);
    end $function$;

CREATE OR REPLACE FUNCTION public.link_output(p_execution_id uuid, p_block_key text, p_sha256 text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
  begin
    if exists (select from block_run where execution_id = p_execution_id and block_key = p_block_key
        and recorded = pg_current_xact_id() and status <> 'failed') then
      update stored_object set linked = true
        where execution_id = p_execution_id and block_key = p_block_key and sha256 = p_sha256 and doomed_at is null;
      if not found then
        raise exception 'the object of this output is being deleted' using errcode = 'WE001';
      end if;
    end if;
  end $function$;

CREATE OR REPLACE FUNCTION public.note_usage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      was_over constant boolean := new.continues is null and old.status in ('completed', 'failed');
      is_over constant boolean := new.continues is null and new.status in ('completed', 'failed');
      runs constant smallint := is_over::int - was_over::int;
    begin
      if old.status = 'started' or runs <> 0 or old.outcome <> new.outcome and is_over then
        insert into usage_pending (execution_id, at, call_ended, runs, failures, cancelled, refused)
        values (new.execution_id,
          coalesce(case when was_over then old.finished_at else new.finished_at end, now()),
          old.status = 'started', runs,
          (is_over and new.outcome = 'failed')::int - (was_over and old.outcome = 'failed')::int,
          (is_over and new.outcome = 'cancelled')::int - (was_over and old.outcome = 'cancelled')::int,
          (is_over and new.outcome = 'refused')::int - (was_over and old.outcome = 'refused')::int);
      end if;
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION public.notify_api_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform pg_notify('weir_api_key', new.key_id);
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION public.notify_call_stopped()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform pg_notify('weir_call_stopped', new.execution_id::text);
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.organization_within_quota(organization uuid, call uuid, most integer)
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE
AS $function$
  begin
    if (
      select count(*) from (
        select from run
        where run.organization_id = organization and run.status = 'started'
        limit most
      ) as under_way
    ) >= most and not exists (select from run where run.execution_id = call) then
      raise exception 'too many runs are under way' using constraint = 'runs_under_way_max';
    end if;
    return organization;
  end $function$;

CREATE OR REPLACE FUNCTION public.outcome_of_run(status text, error json)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
    select case
      when status <> 'failed' then status
      when code = 'CANCELLED' then 'cancelled'
      when code in ('MODEL_REFUSED', 'MODEL_NOT_FOUND', 'MODEL_SCHEMA_REFUSED', 'MODEL_QUOTA_EXCEEDED',
        'MODEL_REQUEST_INVALID', 'MODEL_TOOLS_UNSUPPORTED', 'MODEL_KEY_REJECTED', 'BYOK_REJECTED') then 'refused'
      else 'failed' end
    from substring(error::text from '"code": ?"([A-Z_]+)"') as code $function$;

CREATE OR REPLACE FUNCTION public.record_block_run(p_execution_id uuid, p_block_key text, p_step_id text, p_name text, p_processor_type text, p_status text, p_input json, p_output json, p_error json, p_model text, p_prompt_tokens integer, p_cached_tokens integer, p_cache_write_tokens integer, p_completion_tokens integer, p_reasoning_tokens integer, p_usage_estimated boolean, p_cost_microcredits bigint, p_latency_ms integer, p_attempts integer, p_started_at timestamp with time zone, p_finished_at timestamp with time zone, p_result json, p_charged_to uuid, p_maximum bigint, p_last_answer json, p_logs json, p_pinned boolean, OUT recorded boolean, OUT cancelled boolean, OUT uncharged bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
  declare
    carried record;
    earlier jsonb;
    cost bigint := p_cost_microcredits;
    balance bigint;
  begin
    recorded := false;
    cancelled := false;
    uncharged := 0;
    if p_charged_to is not null then
      -- Locked at once as strongly as it will be needed: two who share it could not both go on to change it.
      if p_result is null then
        select status, cancel_requested_at, finished_at, coalesce(continues, execution_id) as root into strict carried
          from run where execution_id = p_execution_id for share;
      else
        select status, cancel_requested_at, finished_at, coalesce(continues, execution_id) as root into strict carried
          from run where execution_id = p_execution_id for no key update;
      end if;
      cancelled := carried.cancel_requested_at is not null or carried.status = 'failed';
      if cancelled or carried.finished_at is not null then cost := 0; end if;
      -- Before the reservation, as reserve_credits locks them: in another order, each could wait for the other.
      if cost > 0 then
        select balance_microcredits into strict balance
          from organization where id = p_charged_to for no key update;
      end if;
      delete from reservation where execution_id = p_execution_id and block_key = p_block_key;
      if p_status <> 'cancelled'
        and (case when cancelled then p_error is null else carried.finished_at is not null end) then
        return;
      end if;
    end if;
    if cost > 0 then
      uncharged := cost;
      cost := least(cost, balance);
      if p_maximum is not null then
        cost := least(cost, greatest(0, p_maximum
          - (select c.spent from credits_of_run(carried.root, p_execution_id, p_block_key) c)));
      end if;
      uncharged := uncharged - cost;
    end if;
    select u.failed_attempts into earlier from block_under_way u
      where u.execution_id = p_execution_id and u.block_key = p_block_key;
    insert into block_run as b (execution_id, block_key, step_id, name, processor_type, status, input, output, error,
        model, prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, usage_estimated,
        cost_microcredits, uncharged_microcredits, latency_ms, attempts,
        started_at, finished_at, last_answer, logs, failed_attempts, pinned)
      values (p_execution_id, p_block_key, p_step_id, p_name, p_processor_type, p_status, p_input, p_output, p_error,
        p_model, p_prompt_tokens, p_cached_tokens, p_cache_write_tokens, p_completion_tokens, p_reasoning_tokens,
        p_usage_estimated, cost, uncharged, p_latency_ms,
        greatest(p_attempts, coalesce((earlier -> -1 ->> 'number')::integer, 0) + 1),
        p_started_at, p_finished_at, p_last_answer, p_logs, earlier, p_pinned)
      on conflict on constraint block_run_pkey do update
        set step_id = excluded.step_id, name = excluded.name, processor_type = excluded.processor_type,
          status = excluded.status, input = excluded.input, output = excluded.output, error = excluded.error,
          model = excluded.model, prompt_tokens = excluded.prompt_tokens, cached_tokens = excluded.cached_tokens,
          cache_write_tokens = excluded.cache_write_tokens, completion_tokens = excluded.completion_tokens,
          reasoning_tokens = excluded.reasoning_tokens, usage_estimated = excluded.usage_estimated, cost_microcredits = excluded.cost_microcredits,
          uncharged_microcredits = excluded.uncharged_microcredits, latency_ms = excluded.latency_ms,
          attempts = excluded.attempts, started_at = excluded.started_at, finished_at = excluded.finished_at,
          last_answer = excluded.last_answer, logs = excluded.logs, failed_attempts = excluded.failed_attempts, pinned = excluded.pinned,
          recorded = default
        where p_status <> 'cancelled' and (b.status = 'cancelled'
          or b.status = 'failed' and b.cost_microcredits = 0 and b.prompt_tokens = 0 and b.completion_tokens = 0);
    recorded := found;
    if recorded and cost > 0 then
      insert into ledger_entry (organization_id, entry_key, kind, amount_microcredits, execution_id)
        values (p_charged_to, 'charge/' || p_execution_id || '/' || p_block_key, 'charge', -cost, p_execution_id);
      update organization set balance_microcredits = balance_microcredits - cost where id = p_charged_to;
    end if;
    if recorded and p_result is not null then
      update run set status = 'completed', finished_at = p_finished_at, result = p_result, model_keys = null
        where execution_id = p_execution_id and status = 'started' and cancel_requested_at is null;
      recorded := found;
    end if;
    -- A run whose cancellation was asked for meanwhile ends with that, whatever its last block has answered.
    if p_result is not null and not recorded then
      cancelled := exists (select from run
        where execution_id = p_execution_id and status = 'started' and cancel_requested_at is not null);
    end if;
  end $function$;

CREATE OR REPLACE FUNCTION public.record_low_balance()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into audit_entry (organization_id, actor, action, resource_id, details, request_id)
        values (new.id, 'service', 'credits.low', new.id, json_build_object(
          'credits', new.balance_microcredits / 1e6, 'low_balance_mark', new.low_balance_microcredits / 1e6
        ), gen_random_uuid());
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION public.refuse_run_of_deleted_project()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform from project where id = new.project_id and deleted_at is null for key share;
      if not found then
        raise exception 'the project is deleted'
          using errcode = 'foreign_key_violation', constraint = 'run_project_not_deleted';
      end if;
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION public.refuse_version_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  declare
    counted record;
  begin
    if tg_op = 'DELETE' then
      if old.version is null then return old; end if;
      if exists (select from flow where id = old.flow_id and deleted_at is not null) then return old; end if;
    elsif old.block_count is null then
      counted := old;
      counted.block_count := new.block_count;
      if row_to_json(counted)::text = row_to_json(new)::text then return new; end if;
    end if;
    raise exception 'a published flow version never changes';
  end $function$;

CREATE OR REPLACE FUNCTION public.reserve_credits(p_execution_id uuid, p_block_key text, p_organization_id uuid, p_microcredits bigint, p_maximum bigint, OUT refusal text, OUT failure json, OUT spent bigint, OUT available bigint, OUT other_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
  declare
    carried record;
    balance bigint;
    reserved bigint;
  begin
    select cancel_requested_at, finished_at, coalesce(continues, execution_id) as root into carried
      from run where execution_id = p_execution_id for share;
    refusal := case
      when not found then 'missing'
      when carried.cancel_requested_at is not null then 'cancelled'
      when carried.finished_at is not null then 'ended' end;
    if refusal is not null then return; end if;
    -- Not "for update": that would hold up new runs, whose foreign key locks the organization's key.
    select balance_microcredits into strict balance
      from organization where id = p_organization_id for no key update;
    select b.error into failure from block_run b
      where b.execution_id = p_execution_id and b.block_key = p_block_key
        and b.status = 'failed' and b.cost_microcredits > 0;
    if found then refusal := 'failed'; return; end if;
    if p_maximum is not null then
      select c.spent, c.reserved, c.reserved_at into spent, reserved, other_at
        from credits_of_run(carried.root, p_execution_id, p_block_key) c;
      if spent + reserved + p_microcredits > p_maximum then refusal := 'maximum'; end if;
    end if;
    select greatest(0, balance - coalesce(sum(r.microcredits), 0)) into available from reservation r
      where r.organization_id = p_organization_id
        and (r.execution_id, r.block_key) <> (p_execution_id, p_block_key);
    if refusal is null and available < p_microcredits then
      refusal := 'balance';
      select c.reserved_at into other_at from credits_of_run(carried.root, p_execution_id, p_block_key) c;
    end if;
    if refusal is not null then
      -- Another block of the run may spend less than it has reserved, so this one waits for its end. A waiting block reserves
      -- nothing, so no two wait for each other.
      if other_at is not null then
        refusal := 'reserved';
        delete from reservation where execution_id = p_execution_id and block_key = p_block_key;
      end if;
      return;
    end if;
    insert into reservation (execution_id, block_key, organization_id, microcredits)
      values (p_execution_id, p_block_key, p_organization_id, p_microcredits)
      on conflict on constraint reservation_pkey do update
        set microcredits = excluded.microcredits, reserved_at = default;
  end $function$;

CREATE OR REPLACE FUNCTION public.timed_id(at timestamp with time zone DEFAULT clock_timestamp())
 RETURNS uuid
 LANGUAGE sql
AS $function$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      placing substring(int8send(floor(extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6
    ), 52, 1), 53, 1), 'hex')::uuid $function$;

CREATE TABLE api_key (
  id uuid not null default gen_random_uuid(),
  key_id text not null,
  project_id uuid not null,
  environment text not null,
  name text not null,
  secret_hmac bytea not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  created_by text,
  last_used_at timestamp with time zone,
  scopes text[] not null default '{run,webhooks}'::text[],
  constraint api_key_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint api_key_key_id_key UNIQUE (key_id),
  constraint api_key_pkey PRIMARY KEY (id)
);

CREATE TABLE api_key_pepper (
  is_only boolean not null default true,
  hmac bytea not null,
  constraint api_key_pepper_is_only_check CHECK (is_only),
  constraint api_key_pepper_pkey PRIMARY KEY (is_only)
);

CREATE TABLE audit_entry (
  id bigint generated always as identity not null,
  entry_id uuid not null default gen_random_uuid(),
  organization_id uuid not null,
  actor text not null,
  action text not null,
  resource_id text not null,
  details json not null,
  request_id text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  trace_id text,
  constraint audit_entry_pkey PRIMARY KEY (id)
);

CREATE TABLE block_run (
  execution_id uuid not null,
  block_key text not null,
  step_id text not null,
  name text not null,
  processor_type text not null,
  status text not null,
  input json not null,
  output json,
  error json,
  last_answer json,
  logs json,
  failed_attempts jsonb,
  model text,
  prompt_tokens integer not null default 0,
  cached_tokens integer not null default 0,
  cache_write_tokens integer not null default 0,
  completion_tokens integer not null default 0,
  reasoning_tokens integer not null default 0,
  usage_estimated boolean not null default false,
  cost_microcredits bigint not null default 0,
  uncharged_microcredits bigint not null default 0,
  latency_ms integer not null,
  attempts integer not null,
  pinned boolean not null default false,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone not null,
  recorded xid8 not null default pg_current_xact_id(),
  constraint block_run_pkey PRIMARY KEY (execution_id, block_key),
  constraint block_run_status_check CHECK ((status = ANY (ARRAY['completed'::text, 'failed'::text, 'paused'::text, 'cancelled'::text])))
);

CREATE TABLE block_under_way (
  execution_id uuid not null,
  block_key text not null,
  step_id text not null,
  name text not null,
  processor_type text not null,
  input json not null,
  model text,
  attempts integer not null,
  started_at timestamp with time zone not null,
  last_error text,
  next_attempt_at timestamp with time zone,
  failed_attempts jsonb,
  recorded xid8 not null default pg_current_xact_id(),
  constraint block_under_way_pkey PRIMARY KEY (execution_id, block_key)
);

CREATE TABLE bulk_retry (
  id uuid not null,
  organization_id uuid not null,
  project_id uuid not null,
  started_by text not null,
  started_at timestamp with time zone not null default now(),
  filter json not null,
  planned integer not null,
  refused integer not null default 0,
  refusals json not null default '[]'::json,
  stopped_by text,
  next_cursor uuid,
  cancelled_at timestamp with time zone,
  cancelled_by text,
  constraint bulk_retry_pkey PRIMARY KEY (id)
);

CREATE TABLE connected_assistant (
  id uuid not null default gen_random_uuid(),
  user_id text not null,
  client_id text not null,
  name text,
  scopes text[] not null,
  consented_at timestamp with time zone not null,
  first_used_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone not null default now(),
  disconnected_at timestamp with time zone,
  constraint connected_assistant_pkey PRIMARY KEY (id),
  constraint connected_assistant_user_id_client_id_key UNIQUE (user_id, client_id)
);

CREATE TABLE flow (
  id uuid not null default gen_random_uuid(),
  project_id uuid not null,
  slug text not null,
  name text not null,
  description text not null default ''::text,
  draft json not null,
  production_version integer,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  draft_digest bytea not null,
  constraint flow_pkey PRIMARY KEY (id)
);

CREATE TABLE flow_version (
  id uuid not null default gen_random_uuid(),
  flow_id uuid not null,
  version integer,
  note text not null,
  definition json not null,
  created_at timestamp with time zone not null default now(),
  digest bytea,
  published_by text,
  definition_digest bytea,
  block_count integer,
  constraint flow_version_digest_check CHECK (((version IS NULL) = (digest IS NOT NULL))),
  constraint flow_version_number_key UNIQUE (flow_id, version),
  constraint flow_version_pkey PRIMARY KEY (id),
  constraint flow_version_version_check CHECK ((version > 0))
);

CREATE TABLE idempotency_key (
  project_id uuid not null,
  endpoint text not null,
  key text not null,
  digest bytea not null,
  execution_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_key_endpoint_check CHECK ((endpoint = ANY (ARRAY['execute'::text, 'jobs'::text, 'step'::text]))),
  constraint idempotency_key_pkey PRIMARY KEY (project_id, endpoint, key)
);

CREATE TABLE invitation (
  id uuid not null default gen_random_uuid(),
  organization_id uuid not null,
  email text not null,
  role text not null,
  invited_by text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint invitation_organization_id_email_key UNIQUE (organization_id, email),
  constraint invitation_pkey PRIMARY KEY (id),
  constraint invitation_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'member'::text])))
);

CREATE TABLE kept_result (
  actor text not null,
  path text not null,
  key text not null,
  digest bytea not null,
  result text,
  created_at timestamp with time zone not null default now(),
  constraint kept_result_pkey PRIMARY KEY (actor, path, key)
);

CREATE TABLE ledger_entry (
  id bigint generated always as identity not null,
  organization_id uuid not null,
  entry_key text not null,
  kind text not null,
  amount_microcredits bigint not null,
  execution_id uuid,
  created_at timestamp with time zone not null default now(),
  constraint ledger_entry_key UNIQUE (organization_id, entry_key),
  constraint ledger_entry_kind_check CHECK ((kind = ANY (ARRAY['grant'::text, 'charge'::text]))),
  constraint ledger_entry_pkey PRIMARY KEY (id)
);

CREATE TABLE member_profile (
  organization_id uuid not null,
  user_id text not null,
  name text,
  email text,
  email_verified boolean not null,
  told_at timestamp with time zone not null,
  constraint member_profile_pkey PRIMARY KEY (organization_id, user_id)
);

CREATE TABLE membership (
  organization_id uuid not null,
  user_id text not null,
  role text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint membership_pkey PRIMARY KEY (organization_id, user_id),
  constraint membership_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text])))
);

CREATE TABLE model_key (
  organization_id uuid not null,
  provider text not null,
  secret text not null,
  preview text not null,
  created_by text not null,
  updated_at timestamp with time zone not null default now(),
  constraint model_key_pkey PRIMARY KEY (organization_id, provider)
);

CREATE TABLE operator_key (
  id uuid not null default gen_random_uuid(),
  key_id text not null,
  name text not null,
  secret_hmac bytea not null,
  created_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  revoked_by text,
  constraint operator_key_key_id_key UNIQUE (key_id),
  constraint operator_key_pkey PRIMARY KEY (id)
);

CREATE TABLE organization (
  id uuid not null default gen_random_uuid(),
  slug text not null,
  name text not null,
  description text not null default ''::text,
  balance_microcredits bigint not null default 0,
  created_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  updated_at timestamp with time zone not null default now(),
  low_balance_microcredits bigint,
  runs_under_way_max integer,
  suspended_at timestamp with time zone,
  suspension_reason text,
  constraint organization_balance_microcredits_check CHECK ((balance_microcredits >= 0)),
  constraint organization_low_balance_microcredits_check CHECK ((low_balance_microcredits > 0)),
  constraint organization_pkey PRIMARY KEY (id)
);

CREATE TABLE project (
  id uuid not null default gen_random_uuid(),
  organization_id uuid not null,
  slug text not null,
  name text not null,
  description text not null default ''::text,
  user_id text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  constraint project_pkey PRIMARY KEY (id)
);

CREATE UNLOGGED TABLE rate_limit (
  subject uuid not null,
  full_at timestamp with time zone not null,
  allowed boolean not null,
  constraint rate_limit_pkey PRIMARY KEY (subject)
);

CREATE UNLOGGED TABLE reconciler (
  is_only boolean not null default true,
  engine text not null,
  renewed_at timestamp with time zone not null default now(),
  constraint reconciler_is_only_check CHECK (is_only),
  constraint reconciler_pkey PRIMARY KEY (is_only)
);

CREATE TABLE reservation (
  execution_id uuid not null,
  block_key text not null,
  organization_id uuid not null,
  microcredits bigint not null,
  reserved_at timestamp with time zone not null default now(),
  constraint reservation_microcredits_check CHECK ((microcredits >= 0)),
  constraint reservation_pkey PRIMARY KEY (execution_id, block_key)
);

CREATE TABLE run (
  execution_id uuid not null,
  organization_id uuid not null,
  project_id uuid not null,
  flow_id uuid not null,
  flow_version_id uuid not null,
  mode text not null,
  environment text not null,
  status text not null default 'started'::text,
  input json,
  result json,
  error json,
  started_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  cancelled_by text,
  continues uuid,
  step_from integer,
  step_to integer,
  concludes boolean not null default true,
  concluded_by uuid,
  pause json,
  callback_url text,
  callback_events text[],
  model_key_providers text[],
  model_keys jsonb,
  key_id text,
  started_by text,
  repeats uuid,
  first_attempt uuid,
  bulk_id uuid,
  request_id text,
  trace_context json,
  outcome text not null generated always as (outcome_of_run(status, error)) stored,
  error_group text generated always as (error_group_of_run(flow_id, outcome_of_run(status, error), error)) stored,
  constraint run_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint run_mode_check CHECK ((mode = ANY (ARRAY['execute'::text, 'jobs'::text, 'step'::text, 'test'::text]))),
  constraint run_model_keys_while_needed CHECK (((model_keys IS NOT NULL) = ((model_key_providers IS NOT NULL) AND (status = 'started'::text) AND (cancel_requested_at IS NULL)))),
  constraint run_pkey PRIMARY KEY (execution_id),
  constraint run_status_check CHECK ((status = ANY (ARRAY['started'::text, 'completed'::text, 'failed'::text, 'tool_calls_required'::text, 'in_progress'::text])))
);

CREATE TABLE starting_grant (
  user_id text not null,
  organization_id uuid not null,
  granted_at timestamp with time zone not null default now(),
  constraint starting_grant_pkey PRIMARY KEY (user_id)
);

CREATE TABLE stored_object (
  execution_id uuid not null,
  block_key text not null,
  sha256 text not null,
  location text not null,
  bytes integer not null,
  linked boolean not null default false,
  created_at timestamp with time zone not null default now(),
  doomed_at timestamp with time zone,
  constraint stored_object_pkey PRIMARY KEY (execution_id, block_key, sha256)
);

CREATE TABLE test_case (
  id uuid not null default gen_random_uuid(),
  flow_id uuid not null,
  name text not null,
  input json not null,
  expectation json not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  last_execution_id uuid,
  constraint test_case_name_key UNIQUE (flow_id, name),
  constraint test_case_pkey PRIMARY KEY (id)
);

CREATE TABLE test_result (
  execution_id uuid not null,
  test_run_id uuid not null,
  "position" integer not null,
  test_case_id uuid not null,
  name text not null,
  input json not null,
  expectation json not null,
  status text not null default 'pending'::text,
  why json,
  judge_execution_id uuid,
  cost_microcredits bigint,
  constraint test_result_pkey PRIMARY KEY (execution_id),
  constraint test_result_position_key UNIQUE (test_run_id, "position"),
  constraint test_result_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'passed'::text, 'failed'::text, 'error'::text])))
);

CREATE TABLE test_run (
  id uuid not null,
  flow_id uuid not null,
  flow_version_id uuid not null,
  status text not null default 'started'::text,
  started_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  started_by text,
  constraint test_run_pkey PRIMARY KEY (id),
  constraint test_run_status_check CHECK ((status = ANY (ARRAY['started'::text, 'completed'::text, 'cancelled'::text])))
);

CREATE TABLE usage (
  organization_id uuid not null,
  day date not null,
  project_id uuid not null,
  flow_id uuid not null,
  version integer not null,
  key_id text not null,
  subject text not null,
  latency smallint not null,
  count bigint not null,
  failures bigint not null,
  cancelled bigint not null default 0,
  refused bigint not null default 0,
  prompt_tokens bigint not null,
  cached_tokens bigint not null default 0,
  cache_write_tokens bigint not null default 0,
  completion_tokens bigint not null,
  reasoning_tokens bigint not null default 0,
  microcredits bigint not null,
  constraint usage_pkey PRIMARY KEY (organization_id, day, project_id, flow_id, version, key_id, subject, latency)
);

CREATE TABLE usage_pending (
  execution_id uuid not null,
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  call_ended boolean not null,
  runs smallint not null,
  failures smallint not null,
  cancelled smallint not null,
  refused smallint not null,
  constraint usage_pending_pkey PRIMARY KEY (execution_id, id)
);

CREATE TABLE webhook_attempt (
  delivery_id uuid not null,
  round integer not null,
  attempt integer not null,
  started_at timestamp with time zone not null default now(),
  duration_ms integer,
  response_status integer,
  response_body text,
  error_message text,
  request_headers json,
  constraint webhook_attempt_pkey PRIMARY KEY (delivery_id, round, attempt)
);

CREATE TABLE webhook_delivery (
  id uuid not null default timed_id(),
  seq bigint generated always as identity not null,
  organization_id uuid not null,
  execution_id uuid,
  event_type text not null,
  target_url text not null,
  status text not null default 'pending'::text,
  round integer not null default 1,
  attempt integer not null default 0,
  response_status integer,
  last_attempted_at timestamp with time zone,
  next_attempt_at timestamp with time zone,
  error_message text,
  body text,
  created_at timestamp(3) with time zone not null default now(),
  check_at timestamp with time zone not null default (now() + '00:00:30'::interval),
  project_id uuid,
  constraint webhook_delivery_event_type_check CHECK ((event_type = ANY (ARRAY['flow.completed'::text, 'flow.failed'::text]))),
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'in_flight'::text, 'succeeded'::text, 'failed_retry'::text, 'failed_permanent'::text, 'dead_letter'::text])))
);

CREATE TABLE webhook_secret (
  organization_id uuid not null,
  version integer not null,
  current_secret text not null,
  previous_secret text,
  created_at timestamp with time zone not null default now(),
  rotated_at timestamp with time zone,
  grace_until timestamp with time zone,
  constraint webhook_secret_pkey PRIMARY KEY (organization_id)
);

CREATE INDEX api_key_project ON public.api_key USING btree (project_id) WHERE (revoked_at IS NULL);

CREATE INDEX audit_entry_by_organization ON public.audit_entry USING btree (organization_id, created_at DESC);

CREATE INDEX audit_entry_of_action ON public.audit_entry USING btree (organization_id, action, created_at DESC);

CREATE INDEX audit_entry_of_actor ON public.audit_entry USING btree (organization_id, actor, created_at DESC);

CREATE INDEX bulk_retry_newest ON public.bulk_retry USING btree (project_id, id DESC);

CREATE INDEX idempotency_key_age ON public.idempotency_key USING btree (created_at);

CREATE INDEX idempotency_key_by_run ON public.idempotency_key USING btree (execution_id);

CREATE INDEX invitation_by_email ON public.invitation USING btree (email);

CREATE INDEX kept_result_age ON public.kept_result USING btree (created_at);

CREATE INDEX ledger_entry_grants ON public.ledger_entry USING btree (organization_id, created_at DESC, id DESC) WHERE (kind = 'grant'::text);

CREATE INDEX ledger_entry_page ON public.ledger_entry USING btree (organization_id, created_at DESC, id DESC);

CREATE INDEX membership_by_user ON public.membership USING btree (user_id);

CREATE INDEX project_deleted ON public.project USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE INDEX reservation_by_organization ON public.reservation USING btree (organization_id);

CREATE INDEX run_attempts ON public.run USING btree (first_attempt, started_at DESC, execution_id DESC) WHERE (first_attempt IS NOT NULL);

CREATE INDEX run_concluded_by ON public.run USING btree (concluded_by) WHERE (concluded_by IS NOT NULL);

CREATE INDEX run_continues ON public.run USING btree (continues, started_at) WHERE (continues IS NOT NULL);

CREATE INDEX run_newest ON public.run USING btree (flow_id, started_at DESC, execution_id DESC) WHERE (continues IS NULL);

CREATE INDEX run_newest_of_key ON public.run USING btree (key_id, flow_id, outcome, mode, environment, started_at DESC, execution_id DESC) WHERE ((continues IS NULL) AND (key_id IS NOT NULL));

CREATE INDEX run_newest_of_kind ON public.run USING btree (flow_id, outcome, mode, environment, started_at DESC, execution_id DESC) WHERE (continues IS NULL);

CREATE INDEX run_newest_of_version ON public.run USING btree (flow_version_id, outcome, mode, environment, started_at DESC, execution_id DESC) WHERE (continues IS NULL);

CREATE INDEX run_of_bulk ON public.run USING btree (bulk_id, outcome) WHERE (bulk_id IS NOT NULL);

CREATE INDEX run_of_error_group ON public.run USING btree (flow_id, error_group, outcome, mode, environment, started_at DESC, execution_id DESC) INCLUDE (flow_version_id) WHERE ((continues IS NULL) AND (error_group IS NOT NULL));

CREATE INDEX run_of_version ON public.run USING btree (flow_version_id);

CREATE INDEX run_open_by_project ON public.run USING btree (project_id) WHERE (status = ANY (ARRAY['started'::text, 'tool_calls_required'::text, 'in_progress'::text]));

CREATE INDEX run_over ON public.run USING btree (COALESCE(finished_at, started_at)) WHERE ((status <> 'started'::text) AND (continues IS NULL));

CREATE INDEX run_resumed ON public.run USING btree (flow_id) WHERE ((continues IS NOT NULL) AND (status = 'started'::text));

CREATE INDEX run_under_way ON public.run USING btree (organization_id) WHERE (status = 'started'::text);

CREATE INDEX run_unfinished ON public.run USING btree (started_at, execution_id) WHERE (status = 'started'::text);

CREATE INDEX stored_object_doomed ON public.stored_object USING btree (doomed_at) WHERE (doomed_at IS NOT NULL);

CREATE INDEX stored_object_unlinked ON public.stored_object USING btree (created_at) WHERE ((NOT linked) AND (doomed_at IS NULL));

CREATE INDEX test_run_finished ON public.test_run USING btree (finished_at);

CREATE INDEX test_run_newest ON public.test_run USING btree (flow_id, started_at DESC, id DESC);

CREATE INDEX test_run_of_version ON public.test_run USING btree (flow_version_id);

CREATE INDEX test_run_unfinished ON public.test_run USING btree (started_at, id) WHERE (status = 'started'::text);

CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (COALESCE(next_attempt_at, created_at)) WHERE (status = ANY (ARRAY['pending'::text, 'failed_retry'::text]));

CREATE INDEX webhook_delivery_failed ON public.webhook_delivery USING btree (organization_id, created_at DESC, seq DESC) WHERE (status = ANY (ARRAY['failed_permanent'::text, 'dead_letter'::text]));

CREATE INDEX webhook_delivery_of_event ON public.webhook_delivery USING btree (organization_id, event_type, created_at DESC, seq DESC);

CREATE INDEX webhook_delivery_of_project ON public.webhook_delivery USING btree (project_id, created_at DESC, seq DESC) WHERE (project_id IS NOT NULL);

CREATE INDEX webhook_delivery_of_status ON public.webhook_delivery USING btree (organization_id, status, created_at DESC, seq DESC);

CREATE INDEX webhook_delivery_open ON public.webhook_delivery USING btree (check_at) WHERE (status = ANY (ARRAY['pending'::text, 'in_flight'::text, 'failed_retry'::text]));

CREATE INDEX webhook_delivery_open_by_organization ON public.webhook_delivery USING btree (organization_id) WHERE (status = ANY (ARRAY['pending'::text, 'in_flight'::text, 'failed_retry'::text]));

CREATE INDEX webhook_delivery_page ON public.webhook_delivery USING btree (organization_id, created_at DESC, seq DESC);

CREATE UNIQUE INDEX flow_slug_key ON public.flow USING btree (project_id, slug) WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX flow_version_draft ON public.flow_version USING btree (flow_id, digest) WHERE (version IS NULL);

CREATE UNIQUE INDEX organization_slug_key ON public.organization USING btree (slug) WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX project_slug_key ON public.project USING btree (organization_id, slug) WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX stored_object_linked ON public.stored_object USING btree (execution_id, block_key) WHERE linked;

CREATE UNIQUE INDEX webhook_delivery_run ON public.webhook_delivery USING btree (execution_id);

ALTER TABLE api_key ADD CONSTRAINT api_key_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id);

ALTER TABLE audit_entry ADD CONSTRAINT audit_entry_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE block_run ADD CONSTRAINT block_run_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES run(execution_id);

ALTER TABLE block_under_way ADD CONSTRAINT block_under_way_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES run(execution_id) ON DELETE CASCADE;

ALTER TABLE bulk_retry ADD CONSTRAINT bulk_retry_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE bulk_retry ADD CONSTRAINT bulk_retry_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id);

ALTER TABLE flow ADD CONSTRAINT flow_production_version_fkey FOREIGN KEY (id, production_version) REFERENCES flow_version(flow_id, version);

ALTER TABLE flow ADD CONSTRAINT flow_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id);

ALTER TABLE flow_version ADD CONSTRAINT flow_version_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES flow(id);

ALTER TABLE idempotency_key ADD CONSTRAINT idempotency_key_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES run(execution_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE idempotency_key ADD CONSTRAINT idempotency_key_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id);

ALTER TABLE invitation ADD CONSTRAINT invitation_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE ledger_entry ADD CONSTRAINT ledger_entry_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE member_profile ADD CONSTRAINT member_profile_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE membership ADD CONSTRAINT membership_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE model_key ADD CONSTRAINT model_key_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE project ADD CONSTRAINT project_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE reservation ADD CONSTRAINT reservation_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES run(execution_id);

ALTER TABLE reservation ADD CONSTRAINT reservation_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE run ADD CONSTRAINT run_bulk_id_fkey FOREIGN KEY (bulk_id) REFERENCES bulk_retry(id);

ALTER TABLE run ADD CONSTRAINT run_concluded_by_fkey FOREIGN KEY (concluded_by) REFERENCES run(execution_id);

ALTER TABLE run ADD CONSTRAINT run_continues_fkey FOREIGN KEY (continues) REFERENCES run(execution_id);

ALTER TABLE run ADD CONSTRAINT run_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES flow(id);

ALTER TABLE run ADD CONSTRAINT run_flow_version_id_fkey FOREIGN KEY (flow_version_id) REFERENCES flow_version(id);

ALTER TABLE run ADD CONSTRAINT run_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE run ADD CONSTRAINT run_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id);

ALTER TABLE starting_grant ADD CONSTRAINT starting_grant_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE test_case ADD CONSTRAINT test_case_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES flow(id);

ALTER TABLE test_result ADD CONSTRAINT test_result_test_run_id_fkey FOREIGN KEY (test_run_id) REFERENCES test_run(id);

ALTER TABLE test_run ADD CONSTRAINT test_run_flow_id_fkey FOREIGN KEY (flow_id) REFERENCES flow(id);

ALTER TABLE test_run ADD CONSTRAINT test_run_flow_version_id_fkey FOREIGN KEY (flow_version_id) REFERENCES flow_version(id);

ALTER TABLE webhook_attempt ADD CONSTRAINT webhook_attempt_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES webhook_delivery(id);

ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_execution_id_fkey FOREIGN KEY (execution_id) REFERENCES run(execution_id);

ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

ALTER TABLE webhook_secret ADD CONSTRAINT webhook_secret_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id);

CREATE TRIGGER api_key_changed AFTER UPDATE OF revoked_at, expires_at ON public.api_key FOR EACH ROW EXECUTE FUNCTION notify_api_key();

CREATE TRIGGER balance_is_low AFTER UPDATE OF balance_microcredits ON public.organization FOR EACH ROW WHEN (((old.balance_microcredits >= new.low_balance_microcredits) AND (new.balance_microcredits < new.low_balance_microcredits))) EXECUTE FUNCTION record_low_balance();

CREATE TRIGGER call_stopped AFTER UPDATE OF cancel_requested_at, status ON public.run FOR EACH ROW WHEN (((old.status = 'started'::text) AND ((new.status = 'failed'::text) OR ((old.cancel_requested_at IS NULL) AND (new.cancel_requested_at IS NOT NULL))))) EXECUTE FUNCTION notify_call_stopped();

CREATE TRIGGER flow_draft_digest BEFORE INSERT OR UPDATE OF draft ON public.flow FOR EACH ROW EXECUTE FUNCTION digest_draft();

CREATE TRIGGER flow_version_definition_digest BEFORE INSERT ON public.flow_version FOR EACH ROW WHEN ((new.version IS NOT NULL)) EXECUTE FUNCTION digest_definition();

CREATE TRIGGER flow_version_immutable BEFORE DELETE OR UPDATE ON public.flow_version FOR EACH ROW EXECUTE FUNCTION refuse_version_change();

CREATE TRIGGER run_changed AFTER UPDATE OF status ON public.run FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION note_usage();

CREATE TRIGGER run_ended AFTER UPDATE OF status ON public.run FOR EACH ROW WHEN (((old.status = 'started'::text) AND (new.status <> 'started'::text) AND (('flow.'::text || new.status) = ANY (new.callback_events)))) EXECUTE FUNCTION add_webhook_delivery();

CREATE TRIGGER run_of_project BEFORE INSERT ON public.run FOR EACH ROW EXECUTE FUNCTION refuse_run_of_deleted_project();

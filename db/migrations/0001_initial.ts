import { type Kysely, sql } from 'kysely';

/**
 * Creates the schema, one list of statements for each subject. JSON that users wrote is `json`, not `jsonb` or `text`: only
 * `json` accepts \u0000 and keeps the order of keys. Money is in microcredits: 1 credit = 1,000,000 microcredits.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    ...IDS,
    ...ORGANIZATIONS,
    ...ACCESS,
    ...FLOWS,
    ...RUNS,
    ...BLOCKS,
    ...STORED_OBJECTS,
    ...CREDITS,
    ...MODEL_CALLS,
    ...USAGE,
    ...TESTS,
    ...DELIVERIES,
    ...SERVICE,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const IDS = [
  // uuidv7() of PostgreSQL 18, for older versions of PostgreSQL too.
  `create function timed_id(at timestamptz default clock_timestamp()) returns uuid language sql volatile as $$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      placing substring(int8send(floor(extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6
    ), 52, 1), 53, 1), 'hex')::uuid $$`,
];

const ORGANIZATIONS = [
  // runs_under_way_max: 0 for any number, null for the service's default. suspension_reason: null where none was given.
  `create table organization (
    id uuid primary key default gen_random_uuid(),
    slug text not null,
    name text not null,
    description text not null default '',
    balance_microcredits bigint not null default 0 check (balance_microcredits >= 0),
    created_at timestamptz not null default now(),
    deleted_at timestamptz,
    updated_at timestamptz not null default now(),
    low_balance_microcredits bigint check (low_balance_microcredits > 0),
    runs_under_way_max integer,
    suspended_at timestamptz,
    suspension_reason text
  )`,
  `create unique index organization_slug_key on organization (slug) where deleted_at is null`,

  `create table project (
    id uuid primary key default gen_random_uuid(),
    organization_id uuid not null references organization (id),
    slug text not null,
    name text not null,
    description text not null default '',
    user_id text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz
  )`,
  `create unique index project_slug_key on project (organization_id, slug) where deleted_at is null`,
  `create index project_deleted on project (deleted_at) where deleted_at is not null`,
];

/** Who may do what: members, invitations, API keys, assistants, keys of model providers, and the audit log. */
const ACCESS = [
  // The identity provider names users: user_id is the \`sub\` of their tokens.
  `create table membership (
    organization_id uuid not null references organization (id),
    user_id text not null,
    role text not null check (role in ('owner', 'admin', 'member')),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (organization_id, user_id)
  )`,
  `create index membership_by_user on membership (user_id)`,
  // Not columns of the membership: the audit log names people who have left, too.
  `create table member_profile (
    organization_id uuid not null references organization (id),
    user_id text not null,
    name text,
    email text,
    email_verified boolean not null,
    told_at timestamptz not null,
    primary key (organization_id, user_id)
  )`,
  `create table invitation (
    id uuid primary key default gen_random_uuid(),
    organization_id uuid not null references organization (id),
    email text not null,
    role text not null check (role in ('admin', 'member')),
    invited_by text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    unique (organization_id, email)
  )`,
  `create index invitation_by_email on invitation (email)`,

  `create table api_key (
    id uuid primary key default gen_random_uuid(),
    key_id text not null constraint api_key_key_id_key unique,
    project_id uuid not null references project (id),
    environment text not null check (environment in ('live', 'test')),
    name text not null,
    secret_hmac bytea not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    created_by text,
    last_used_at timestamptz,
    scopes text[] not null default '{run,webhooks}'
  )`,
  `create index api_key_project on api_key (project_id) where revoked_at is null`,
  // Each API process listens and drops its cached copy of the key.
  `create function notify_api_key() returns trigger language plpgsql as $$
    begin
      perform pg_notify('weir_api_key', new.key_id);
      return new;
    end $$`,
  // A new last_used_at is no reason to look a key up again.
  `create trigger api_key_changed after update of revoked_at, expires_at on api_key
    for each row execute function notify_api_key()`,

  // Operators belong to no organization. What a key did is in the audit log of each organization.
  `create table operator_key (
    id uuid primary key default gen_random_uuid(),
    key_id text not null constraint operator_key_key_id_key unique,
    name text not null,
    secret_hmac bytea not null,
    created_at timestamptz not null default now(),
    last_used_at timestamptz,
    revoked_at timestamptz,
    revoked_by text
  )`,

  // One row: shows whether a process has the pepper under which the secrets of keys were hashed.
  `create table api_key_pepper (
    is_only boolean primary key default true check (is_only),
    hmac bytea not null
  )`,

  `create table connected_assistant (
    id uuid primary key default gen_random_uuid(),
    user_id text not null,
    client_id text not null,
    name text,
    scopes text[] not null,
    consented_at timestamptz not null,
    first_used_at timestamptz not null default now(),
    last_used_at timestamptz not null default now(),
    disconnected_at timestamptz,
    unique (user_id, client_id)
  )`,

  // Secrets as platform/secrets/encrypt.ts writes them.
  `create table model_key (
    organization_id uuid not null references organization (id),
    provider text not null,
    secret text not null,
    preview text not null,
    created_by text not null,
    updated_at timestamptz not null default now(),
    primary key (organization_id, provider)
  )`,

  // id: the order. entry_id: for readers, who do not learn how many entries others have. Callers may choose the ids of their
  // requests, so request_id is no UUID. trace_id is null while traces are off.
  `create table audit_entry (
    id bigint generated always as identity primary key,
    entry_id uuid not null default gen_random_uuid(),
    organization_id uuid not null references organization (id),
    actor text not null,
    action text not null,
    resource_id text not null,
    details json not null,
    request_id text not null,
    created_at timestamptz not null default clock_timestamp(),
    trace_id text
  )`,
  `create index audit_entry_by_organization on audit_entry (organization_id, created_at desc)`,
  `create index audit_entry_of_actor on audit_entry (organization_id, actor, created_at desc)`,
  `create index audit_entry_of_action on audit_entry (organization_id, action, created_at desc)`,
];

const FLOWS = [
  `create table flow (
    id uuid primary key default gen_random_uuid(),
    project_id uuid not null references project (id),
    slug text not null,
    name text not null,
    description text not null default '',
    draft json not null,
    production_version integer,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    draft_digest bytea not null
  )`,
  `create unique index flow_slug_key on flow (project_id, slug) where deleted_at is null`,

  // A row without a version is the snapshot of a draft that was run, one for each content (digest).
  `create table flow_version (
    id uuid primary key default gen_random_uuid(),
    flow_id uuid not null references flow (id),
    version integer check (version > 0),
    note text not null,
    definition json not null,
    created_at timestamptz not null default now(),
    digest bytea,
    published_by text,
    definition_digest bytea,
    block_count integer,
    constraint flow_version_number_key unique (flow_id, version),
    constraint flow_version_digest_check check ((version is null) = (digest is not null))
  )`,
  `create unique index flow_version_draft on flow_version (flow_id, digest) where version is null`,
  `alter table flow add constraint flow_production_version_fkey
    foreign key (id, production_version) references flow_version (flow_id, version)`,

  // Digests, so that a list of flows compares no definitions of megabytes. The order of keys does not count, except in JSON with
  // U+0000 or the like, which jsonb refuses.
  `create function digest_json(value json) returns bytea language plpgsql immutable as $$
    begin
      return sha256(convert_to(value::jsonb::text, 'UTF8'));
    exception when others then
      return sha256(convert_to(value::text, 'UTF8'));
    end $$`,
  `create function digest_draft() returns trigger language plpgsql as $$
    begin
      new.draft_digest := digest_json(new.draft);
      return new;
    end $$`,
  `create function digest_definition() returns trigger language plpgsql as $$
    begin
      new.definition_digest := digest_json(new.definition);
      return new;
    end $$`,
  `create trigger flow_draft_digest before insert or update of draft on flow
    for each row execute function digest_draft()`,
  // Snapshots of drafts, which are inserted for each test run, are compared with nothing.
  `create trigger flow_version_definition_digest before insert on flow_version
    for each row when (new.version is not null) execute function digest_definition()`,

  // Snapshots, and versions of deleted flows, may be deleted once nothing refers to them. block_count may be filled in once.
  `create function refuse_version_change() returns trigger language plpgsql as $$
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
  end $$`,
  `create trigger flow_version_immutable before update or delete on flow_version
    for each row execute function refuse_version_change()`,
];

const RUNS = [
  // How a run ended; otherwise its status. refused: by a provider or its model. Read as text: functions for JSON fail on some
  // messages, and with them the end of the run would.
  `create function outcome_of_run(status text, error json) returns text language sql immutable as $$
    select case
      when status <> 'failed' then status
      when code = 'CANCELLED' then 'cancelled'
      when code in ('MODEL_REFUSED', 'MODEL_NOT_FOUND', 'MODEL_SCHEMA_REFUSED', 'MODEL_QUOTA_EXCEEDED',
        'MODEL_REQUEST_INVALID', 'MODEL_TOOLS_UNSUPPORTED', 'MODEL_KEY_REJECTED', 'BYOK_REJECTED') then 'refused'
      else 'failed' end
    from substring(error::text from '"code": ?"([A-Z_]+)"') as code $$`,
  // Many retries that one request began, and others continued. filter: what the request asked for. planned: the failed runs
  // that it found. refused: how many of them were not retried; refusals: the first of these. stopped_by: the error that ended
  // it early. next_cursor: where the next request continues.
  `create table bulk_retry (
    id uuid primary key,
    organization_id uuid not null references organization (id),
    project_id uuid not null references project (id),
    started_by text not null,
    started_at timestamptz not null default now(),
    filter json not null,
    planned integer not null,
    refused integer not null default 0,
    refusals json not null default '[]',
    stopped_by text,
    next_cursor uuid,
    cancelled_at timestamptz,
    cancelled_by text
  )`,
  `create index bulk_retry_newest on bulk_retry (project_id, id desc)`,
  // One value for the failures of a flow with the same code, step and message, whatever numbers, ids and quoted texts the message
  // has; null for other runs. The regular expressions name their characters, because classes such as \w depend on the locale.
  `create function error_group_of_run(flow uuid, outcome text, error json) returns text language plpgsql immutable as $$
    declare
      written text := error::text;
      message text;
    begin
      if outcome not in ('failed', 'refused') then return null; end if;
      message := left(substring(written from '"message": ?"((?:[^"\\\\]|\\\\.)*)"'), 1000);
      message := regexp_replace(message, '\\\\"([^"\\\\]|\\\\[^"])*\\\\"|“[^”]*”|\`[^\`]*\`|(?<![0-9A-Za-z])''[^'']*''(?![0-9A-Za-z])', '"', 'g');
      message := regexp_replace(message, '[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}', '0', 'gi');
      message := regexp_replace(message, '[0-9A-Za-z_]*[0-9][0-9A-Za-z_]*([.,:-][0-9A-Za-z_]*[0-9][0-9A-Za-z_]*)*', '0', 'g');
      return left(encode(sha256(convert_to(
        flow || '/' || coalesce(substring(written from '"code": ?"([A-Z_]+)"'), '')
          || '/' || coalesce(substring(written from '"step_id": ?"((?:[^"\\\\]|\\\\.)*)"'), '')
          || '/' || coalesce(left(message, 400), ''), 'UTF8')), 'hex'), 12);
    end $$`,
  // One row for each call. continues: the call with which the run began. input: null while it is in the object store.
  // model_key_providers: the providers for which the request brought keys. model_keys: these keys by provider, each as
  // platform/secrets/encrypt.ts writes it, until the call ends, pauses or is asked to cancel. repeats: the run of which this is
  // a repetition; first_attempt: the run that this chain of repetitions began with; bulk_id: the bulk retry that started it.
  `create table run (
    execution_id uuid primary key,
    organization_id uuid not null references organization (id),
    project_id uuid not null references project (id),
    flow_id uuid not null references flow (id),
    flow_version_id uuid not null references flow_version (id),
    mode text not null check (mode in ('execute', 'jobs', 'step', 'test')),
    environment text not null check (environment in ('live', 'test')),
    status text not null default 'started'
      check (status in ('started', 'completed', 'failed', 'tool_calls_required', 'in_progress')),
    input json,
    result json,
    error json,
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    cancel_requested_at timestamptz,
    cancelled_by text,
    continues uuid references run (execution_id),
    step_from integer,
    step_to integer,
    concludes boolean not null default true,
    concluded_by uuid references run (execution_id),
    pause json,
    callback_url text,
    callback_events text[],
    model_key_providers text[],
    model_keys jsonb,
    key_id text,
    started_by text,
    repeats uuid,
    first_attempt uuid,
    bulk_id uuid references bulk_retry (id),
    request_id text,
    trace_context json,
    outcome text not null generated always as (outcome_of_run(status, error)) stored,
    error_group text generated always as (error_group_of_run(flow_id, outcome_of_run(status, error), error)) stored,
    constraint run_model_keys_while_needed check ((model_keys is not null)
      = (model_key_providers is not null and status = 'started' and cancel_requested_at is null))
  )`,
  // Work under way and what is over, for the scheduled jobs; then what refers to a run.
  `create index run_unfinished on run (started_at, execution_id) where status = 'started'`,
  `create index run_open_by_project on run (project_id)
    where status in ('started', 'tool_calls_required', 'in_progress')`,
  `create index run_over on run ((coalesce(finished_at, started_at)))
    where status <> 'started' and continues is null`,
  `create index run_continues on run (continues, started_at) where continues is not null`,
  `create index run_concluded_by on run (concluded_by) where concluded_by is not null`,
  `create index run_attempts on run (first_attempt, started_at desc, execution_id desc)
    where first_attempt is not null`,
  `create index run_of_bulk on run (bulk_id, outcome) where bulk_id is not null`,
  `create index run_resumed on run (flow_id) where continues is not null and status = 'started'`,
  `create index run_of_version on run (flow_version_id)`,
  // Pages of runs: all that a filter can name comes before the time.
  `create index run_newest on run (flow_id, started_at desc, execution_id desc) where continues is null`,
  `create index run_newest_of_kind
    on run (flow_id, outcome, mode, environment, started_at desc, execution_id desc) where continues is null`,
  `create index run_newest_of_version
    on run (flow_version_id, outcome, mode, environment, started_at desc, execution_id desc) where continues is null`,
  `create index run_newest_of_key
    on run (key_id, flow_id, outcome, mode, environment, started_at desc, execution_id desc)
    where continues is null and key_id is not null`,
  `create index run_of_error_group
    on run (flow_id, error_group, outcome, mode, environment, started_at desc, execution_id desc)
    include (flow_version_id) where continues is null and error_group is not null`,

  // Called while a run is inserted. The index has the runs of an organization side by side, however many flows it has.
  `create index run_under_way on run (organization_id) where status = 'started'`,
  `create function organization_within_quota(organization uuid, call uuid, most integer) returns uuid
  language plpgsql stable as $$
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
  end $$`,

  // Waits for a deletion that is under way, and sees its result; a deletion waits for runs that came first.
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

  // Each worker listens, and aborts the blocks of the call: a cancelled or failed call spends nothing more.
  `create function notify_call_stopped() returns trigger language plpgsql as $$
    begin
      perform pg_notify('weir_call_stopped', new.execution_id::text);
      return null;
    end $$`,
  `create trigger call_stopped after update of cancel_requested_at, status on run for each row
    when (old.status = 'started' and (new.status = 'failed'
      or (old.cancel_requested_at is null and new.cancel_requested_at is not null)))
    execute function notify_call_stopped()`,

  // Deferred: the key is inserted first, and a request that finds another one has written no run.
  `create table idempotency_key (
    project_id uuid not null references project (id),
    endpoint text not null check (endpoint in ('execute', 'jobs', 'step')),
    key text not null,
    digest bytea not null,
    execution_id uuid not null references run (execution_id) deferrable initially deferred,
    created_at timestamptz not null default now(),
    primary key (project_id, endpoint, key)
  )`,
  `create index idempotency_key_age on idempotency_key (created_at)`,
  `create index idempotency_key_by_run on idempotency_key (execution_id)`,

  // Results of writes with an Idempotency-Key, encrypted: some are secrets that are shown once.
  `create table kept_result (
    actor text not null,
    path text not null,
    key text not null,
    digest bytea not null,
    result text,
    created_at timestamptz not null default now(),
    primary key (actor, path, key)
  )`,
  `create index kept_result_age on kept_result (created_at)`,
];

const BLOCKS = [
  // One row for each block execution: the trace, and the home of outputs too large for a workflow history. recorded: the
  // transaction, because all with a smaller id can be known to have ended, which no sequence can tell.
  `create table block_run (
    execution_id uuid not null references run (execution_id),
    block_key text not null,
    step_id text not null,
    name text not null,
    processor_type text not null,
    status text not null check (status in ('completed', 'failed', 'paused', 'cancelled')),
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
    started_at timestamptz not null,
    finished_at timestamptz not null,
    recorded xid8 not null default pg_current_xact_id(),
    primary key (execution_id, block_key)
  )`,

  // Blocks that take long or that their provider has refused, so that callers see a run at work.
  `create table block_under_way (
    execution_id uuid not null references run (execution_id) on delete cascade,
    block_key text not null,
    step_id text not null,
    name text not null,
    processor_type text not null,
    input json not null,
    model text,
    attempts integer not null,
    started_at timestamptz not null,
    last_error text,
    next_attempt_at timestamptz,
    failed_attempts jsonb,
    recorded xid8 not null default pg_current_xact_id(),
    primary key (execution_id, block_key)
  )`,
  // The first three and the last ten, numbered. The times are those of the database, because the clocks of machines differ.
  `create function add_failed_attempt(p_attempts jsonb, p_code text, p_message text, p_took_ms double precision)
    returns jsonb language sql as $$
    select case when jsonb_array_length(known) < 13 then known else known - 3 end || jsonb_build_object(
        'number', coalesce((known -> -1 ->> 'number')::integer, 0) + 1,
        'startedAt', clock_timestamp() - p_took_ms * interval '1 millisecond', 'endedAt', clock_timestamp(),
        'code', p_code, 'message', p_message)
      from (select coalesce(p_attempts, '[]') as known) as listed
  $$`,
];

/** Outputs, and inputs of calls (their block_key is empty), in an object store. */
const STORED_OBJECTS = [
  // A row is inserted before its object and deleted after it, so that no object is forgotten. No foreign key: runs may be
  // deleted in any way, and the objects that they leave here are found.
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
  // Called after record_block_run in the same statement, whose transaction tells which block that has recorded.
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

/**
 * Credits. reserve_credits and record_block_run move the credits of an organization, in one statement each: they lock its row
 * while the database works on it, and never while an answer is on its way. Each statement inside them sees all that was
 * committed before it, so a sum taken after the lock includes the writes of earlier holders. Each may be repeated when its
 * answer was lost.
 */
const CREDITS = [
  `create table ledger_entry (
    id bigint generated always as identity primary key,
    organization_id uuid not null references organization (id),
    entry_key text not null,
    kind text not null check (kind in ('grant', 'charge')),
    amount_microcredits bigint not null,
    execution_id uuid,
    created_at timestamptz not null default now(),
    constraint ledger_entry_key unique (organization_id, entry_key)
  )`,
  `create index ledger_entry_page on ledger_entry (organization_id, created_at desc, id desc)`,
  `create index ledger_entry_grants on ledger_entry (organization_id, created_at desc, id desc) where kind = 'grant'`,
  // Who has had credits for a first organization.
  `create table starting_grant (
    user_id text primary key,
    organization_id uuid not null references organization (id),
    granted_at timestamptz not null default now()
  )`,

  `create table reservation (
    execution_id uuid not null references run (execution_id),
    block_key text not null,
    organization_id uuid not null references organization (id),
    microcredits bigint not null check (microcredits >= 0),
    reserved_at timestamptz not null default now(),
    primary key (execution_id, block_key)
  )`,
  `create index reservation_by_organization on reservation (organization_id)`,
  `create function credits_of_run(p_root uuid, p_but_execution uuid, p_but_block text,
    out spent bigint, out reserved bigint, out reserved_at timestamptz)
  language plpgsql as $$
  declare
    parts uuid[] := array(select execution_id from run where execution_id = p_root or continues = p_root);
  begin
    select coalesce(sum(b.cost_microcredits), 0) into spent from block_run b where b.execution_id = any (parts);
    select coalesce(sum(r.microcredits), 0), max(r.reserved_at) filter (where r.microcredits > 0)
      into reserved, reserved_at from reservation r
      where r.execution_id = any (parts) and (r.execution_id, r.block_key) <> (p_but_execution, p_but_block);
  end $$`,
  `create function reserve_credits(p_execution_id uuid, p_block_key text, p_organization_id uuid,
    p_microcredits bigint, p_maximum bigint,
    out refusal text, out failure json, out spent bigint, out available bigint, out other_at timestamptz)
  language plpgsql as $$
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
  end $$`,
  `create function record_block_run(p_execution_id uuid, p_block_key text, p_step_id text, p_name text,
    p_processor_type text, p_status text, p_input json, p_output json, p_error json, p_model text,
    p_prompt_tokens integer, p_cached_tokens integer, p_cache_write_tokens integer, p_completion_tokens integer,
    p_reasoning_tokens integer, p_usage_estimated boolean, p_cost_microcredits bigint, p_latency_ms integer,
    p_attempts integer, p_started_at timestamptz, p_finished_at timestamptz,
    p_result json, p_charged_to uuid, p_maximum bigint, p_last_answer json, p_logs json, p_pinned boolean,
    out recorded boolean, out cancelled boolean, out uncharged bigint)
  language plpgsql as $$
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
  end $$`,

  // In the audit log, because that is kept and read; once, because a balance falls below the mark once until it is raised.
  `create function record_low_balance() returns trigger language plpgsql as $$
    begin
      insert into audit_entry (organization_id, actor, action, resource_id, details, request_id)
        values (new.id, 'service', 'credits.low', new.id, json_build_object(
          'credits', new.balance_microcredits / 1e6, 'low_balance_mark', new.low_balance_microcredits / 1e6
        ), gen_random_uuid());
      return new;
    end $$`,
  `create trigger balance_is_low after update of balance_microcredits on organization for each row
    when (old.balance_microcredits >= new.low_balance_microcredits
      and new.balance_microcredits < new.low_balance_microcredits)
    execute function record_low_balance()`,
];

const MODEL_CALLS = [
  // Finds the encrypted key of the caller or the organization, and reserves credits only where there is none. again: an earlier
  // attempt has left its reservation, was lost with its worker, and may have asked the model. The commit does not wait for the
  // disk, so that the organization's balance is locked for a shorter time: a crash of PostgreSQL can lose the reservations of
  // its last half second, whose charges then take what the balance has. Charges wait for the disk.
  `create function begin_model_call(p_execution_id uuid, p_block_key text, p_provider text,
    p_organization_id uuid, p_microcredits bigint, p_maximum bigint,
    out refusal text, out failure json, out spent bigint, out available bigint, out other_at timestamptz,
    out sent boolean, out secret text, out again boolean)
  language plpgsql as $$
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
  end $$`,
];

/** Sums by day that outlive the runs, and what is still to be added to them. */
const USAGE = [
  `create table usage (
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
    primary key (organization_id, day, project_id, flow_id, version, key_id, subject, latency)
  )`,
  // One row is deleted for each that is inserted: vacuum the table long before a fifth of it is dead.
  `create table usage_pending (
    execution_id uuid not null,
    id bigint generated always as identity,
    at timestamptz not null,
    call_ended boolean not null,
    runs smallint not null,
    failures smallint not null,
    cancelled smallint not null,
    refused smallint not null,
    primary key (execution_id, id)
  ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000)`,
  // The differences that a change of a run's status makes: a session that is continued after its end takes its end back.
  `create function note_usage() returns trigger language plpgsql as $$
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
    end $$`,
  `create trigger run_changed after update of status on run for each row
    when (old.status is distinct from new.status) execute function note_usage()`,
];

/** Test cases of flows, and the results of running them. */
const TESTS = [
  `create table test_case (
    id uuid primary key default gen_random_uuid(),
    flow_id uuid not null references flow (id),
    name text not null,
    input json not null,
    expectation json not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    last_execution_id uuid,
    constraint test_case_name_key unique (flow_id, name)
  )`,

  `create table test_run (
    id uuid primary key,
    flow_id uuid not null references flow (id),
    flow_version_id uuid not null references flow_version (id),
    status text not null default 'started' check (status in ('started', 'completed', 'cancelled')),
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    cancel_requested_at timestamptz,
    started_by text
  )`,
  `create index test_run_unfinished on test_run (started_at, id) where status = 'started'`,
  `create index test_run_newest on test_run (flow_id, started_at desc, id desc)`,
  `create index test_run_finished on test_run (finished_at)`,
  `create index test_run_of_version on test_run (flow_version_id)`,

  // The case as it was: it may be changed or deleted meanwhile. Its run has a row from when it begins. cost_microcredits: null
  // before the verdict.
  `create table test_result (
    execution_id uuid primary key,
    test_run_id uuid not null references test_run (id),
    position integer not null,
    test_case_id uuid not null,
    name text not null,
    input json not null,
    expectation json not null,
    status text not null default 'pending' check (status in ('pending', 'passed', 'failed', 'error')),
    why json,
    judge_execution_id uuid,
    cost_microcredits bigint,
    constraint test_result_position_key unique (test_run_id, position)
  )`,
];

/** Webhooks: signing secrets, and deliveries with their attempts. */
const DELIVERIES = [
  `create table webhook_secret (
    organization_id uuid primary key references organization (id),
    version integer not null,
    current_secret text not null,
    previous_secret text,
    created_at timestamptz not null default now(),
    rotated_at timestamptz,
    grace_until timestamptz
  )`,

  // created_at is as fine as what callers see and send back; seq tells the order of equal ones. project_id and execution_id are
  // null for a test delivery.
  `create table webhook_delivery (
    id uuid primary key default timed_id(),
    seq bigint generated always as identity,
    organization_id uuid not null references organization (id),
    execution_id uuid references run (execution_id),
    event_type text not null check (event_type in ('flow.completed', 'flow.failed')),
    target_url text not null,
    status text not null default 'pending'
      check (status in ('pending', 'in_flight', 'succeeded', 'failed_retry', 'failed_permanent', 'dead_letter')),
    round integer not null default 1,
    attempt integer not null default 0,
    response_status integer,
    last_attempted_at timestamptz,
    next_attempt_at timestamptz,
    error_message text,
    body text,
    created_at timestamptz(3) not null default now(),
    check_at timestamptz not null default now() + interval '30 seconds',
    project_id uuid
  )`,
  `create unique index webhook_delivery_run on webhook_delivery (execution_id)`,
  `create index webhook_delivery_open on webhook_delivery (check_at)
    where status in ('pending', 'in_flight', 'failed_retry')`,
  `create index webhook_delivery_open_by_organization on webhook_delivery (organization_id)
    where status in ('pending', 'in_flight', 'failed_retry')`,
  `create index webhook_delivery_due on webhook_delivery ((coalesce(next_attempt_at, created_at)))
    where status in ('pending', 'failed_retry')`,
  `create index webhook_delivery_page on webhook_delivery (organization_id, created_at desc, seq desc)`,
  `create index webhook_delivery_of_status on webhook_delivery (organization_id, status, created_at desc, seq desc)`,
  `create index webhook_delivery_of_event on webhook_delivery (organization_id, event_type, created_at desc, seq desc)`,
  `create index webhook_delivery_of_project on webhook_delivery (project_id, created_at desc, seq desc)
    where project_id is not null`,
  `create index webhook_delivery_failed on webhook_delivery (organization_id, created_at desc, seq desc)
    where status in ('failed_permanent', 'dead_letter')`,

  `create table webhook_attempt (
    delivery_id uuid not null references webhook_delivery (id),
    round integer not null,
    attempt integer not null,
    started_at timestamptz not null default now(),
    duration_ms integer,
    response_status integer,
    response_body text,
    error_message text,
    request_headers json,
    primary key (delivery_id, round, attempt)
  )`,

  // In the transaction that ends the run. Runs without a callback cost nothing; runs of deleted projects call nobody back.
  `create function add_webhook_delivery() returns trigger language plpgsql as $$
    begin
      insert into webhook_delivery (organization_id, project_id, execution_id, event_type, target_url)
        select new.organization_id, new.project_id, new.execution_id, 'flow.' || new.status, new.callback_url
        from project where id = new.project_id and deleted_at is null;
      return new;
    end $$`,
  `create trigger run_ended after update of status on run for each row
    when (old.status = 'started' and new.status <> 'started' and 'flow.' || new.status = any (new.callback_events))
    execute function add_webhook_delivery()`,
];

/** Unlogged tables: nobody waits for the disk here, and after a crash of PostgreSQL they are empty. */
const SERVICE = [
  // A bucket without a row is full.
  `create unlogged table rate_limit (
    subject uuid primary key,
    full_at timestamptz not null,
    allowed boolean not null
  )`,
  // One row: the engine whose workers reconcile, and when they last did.
  `create unlogged table reconciler (
    is_only boolean primary key default true check (is_only),
    engine text not null,
    renewed_at timestamptz not null default now()
  )`,
];

// The tables as Kysely sees them; `schema.sql` is the database's own description, checked in CI.
import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { FlowDefinition, Json, ProcessorType } from '../flow/definition.ts';
import type { DeliveryStatus, WebhookEvent } from '../flow/delivery.ts';
import type { BlockOverrides } from '../flow/overrides.ts';
import type { RunOutcome } from '../flow/run.ts';
import type { Value } from '../flow/value.ts';

type Now = ColumnType<Date, Date | undefined, Date>;
/** bigint columns are read as numbers (see connect.ts): balances stay far below 2^53 microcredits. */
type Default<T> = Generated<T>;

export type Environment = 'live' | 'test';
export type RunMode = 'execute' | 'jobs';
export type RunStatus = 'started' | 'completed' | 'failed';
export type Role = 'owner' | 'admin' | 'member';

export interface OrganizationTable {
  id: Generated<string>;
  slug: string;
  name: string;
  description: Default<string>;
  balance_microcredits: Default<number>;
  created_at: Now;
  updated_at: Now;
  deleted_at: Date | null;
}

export interface MembershipTable {
  organization_id: string;
  /** The `sub` of the user's tokens. */
  user_id: string;
  role: Role;
  created_at: Now;
  updated_at: Now;
}

export interface ProjectTable {
  id: Generated<string>;
  organization_id: string;
  slug: string;
  name: string;
  description: Default<string>;
  user_id: string | null;
  created_at: Now;
  updated_at: Now;
  deleted_at: Date | null;
}

export interface ApiKeyTable {
  id: Generated<string>;
  key_id: string;
  project_id: string;
  environment: Environment;
  name: string;
  secret_hmac: Buffer;
  created_at: Now;
  expires_at: Date | null;
  revoked_at: Date | null;
  /** The user who made it; null when an operator did. */
  created_by: string | null;
  /** To the minute. */
  last_used_at: Date | null;
}

export interface FlowTable {
  id: Generated<string>;
  project_id: string;
  slug: string;
  name: string;
  description: Generated<string>;
  draft: JSONColumnType<FlowDefinition>;
  production_version: number | null;
  created_at: Now;
  updated_at: Now;
  deleted_at: Date | null;
}

export interface FlowVersionTable {
  id: Generated<string>;
  flow_id: string;
  version: number;
  note: string;
  definition: JSONColumnType<FlowDefinition>;
  created_at: Now;
}

/** What a run was asked to do, as stored in `run.input`. */
export type StoredRunInput = {
  message: string;
  parameters: { [key: string]: Json };
  block_overrides: BlockOverrides;
};

export type StoredError = Extract<RunOutcome, { status: 'failed' }>['error'];

export interface RunTable {
  execution_id: string;
  organization_id: string;
  project_id: string;
  flow_id: string;
  flow_version_id: string;
  mode: RunMode;
  environment: Environment;
  status: Default<RunStatus>;
  input: JSONColumnType<StoredRunInput>;
  /** A Value (flow/value.ts): small results as they are, large ones as references to block_run rows. */
  result: ColumnType<Value | null, string | null, string | null>;
  error: ColumnType<StoredError | null, string | null, string | null>;
  started_at: Now;
  finished_at: Date | null;
  reconciled_at: Date | null;
  cancel_requested_at: Date | null;
  /** Keys its request brought, encrypted; null once it has ended. */
  model_keys: string | null;
  /** Both or neither. */
  callback_url: string | null;
  callback_events: WebhookEvent[] | null;
}

export interface BlockRunTable {
  execution_id: string;
  block_key: string;
  step_id: string;
  name: string;
  processor_type: ProcessorType;
  status: 'completed' | 'failed';
  /** A Value (flow/value.ts) over the run's message and the outputs of its other blocks. */
  input: ColumnType<Value, string, string>;
  output: ColumnType<Json, string | null, string | null>;
  error: ColumnType<{ code: string; message: string } | null, string | null, string | null>;
  model: string | null;
  prompt_tokens: Default<number>;
  completion_tokens: Default<number>;
  cost_microcredits: Default<number>;
  latency_ms: number;
  attempts: number;
  started_at: Date;
  finished_at: Date;
  /** Id of the transaction that recorded it (xid8): the order of a run's events. */
  recorded: Generated<string>;
}

export interface LedgerEntryTable {
  id: Generated<number>;
  organization_id: string;
  /** `grant/{uuid}` or `charge/{executionId}/{blockKey}`: a repeated activity finds its own entry. */
  entry_key: string;
  kind: 'grant' | 'charge';
  /** Positive for a grant, negative for a charge. */
  amount_microcredits: number;
  execution_id: string | null;
  created_at: Now;
}

/** A token bucket of requests, kept as the moment it is full again. */
export interface RateLimitTable {
  /** Id of an API key or of an organization. */
  subject: string;
  full_at: Date;
  /** Whether the request that wrote the row had a token left to take. */
  allowed: boolean;
}

export interface IdempotencyKeyTable {
  project_id: string;
  endpoint: RunMode;
  key: string;
  /** SHA-256 of the request the key was first used with. */
  digest: Buffer;
  execution_id: string;
  created_at: Now;
}

/** An organization's own key for a model provider, encrypted. */
export interface ModelKeyTable {
  organization_id: string;
  provider: string;
  secret: string;
  preview: string;
  created_by: string;
  updated_at: Now;
}

/** Who changed what: one row per management write, in its transaction. */
export interface AuditEntryTable {
  id: Generated<number>;
  organization_id: string;
  /** A user id. */
  actor: string;
  /** `resource.verb`. */
  action: string;
  resource_id: string;
  details: JSONColumnType<{ [field: string]: Json }>;
  request_id: string;
  created_at: Now;
}

/** Secrets as db/encrypt.ts writes them. */
export interface WebhookSecretTable {
  organization_id: string;
  version: number;
  current_secret: string;
  previous_secret: string | null;
  created_at: Now;
  rotated_at: Date | null;
  grace_until: Date | null;
}

/** Added by a trigger in the transaction that ends a run with a callback, or for a test. */
export interface WebhookDeliveryTable {
  id: Generated<string>;
  seq: Generated<number>;
  organization_id: string;
  /** null: a test. */
  execution_id: string | null;
  event_type: WebhookEvent;
  target_url: string;
  status: Default<DeliveryStatus>;
  /** Counts from 1; each time a delivery is sent anew, its attempts are counted anew. */
  round: Default<number>;
  attempt: Default<number>;
  response_status: number | null;
  last_attempted_at: Date | null;
  next_attempt_at: Date | null;
  error_message: string | null;
  /** The bytes of every attempt, from the first one on. */
  body: string | null;
  created_at: Generated<Date>;
  /** When to look whether it is still being delivered. */
  check_at: Generated<Date>;
}

export interface WebhookAttemptTable {
  delivery_id: string;
  round: number;
  attempt: number;
  started_at: Now;
  /** null while it runs, and when its worker was lost. */
  duration_ms: number | null;
  response_status: number | null;
  /** The first characters. */
  response_body: string | null;
  error_message: string | null;
}

export interface Schema {
  organization: OrganizationTable;
  membership: MembershipTable;
  audit_entry: AuditEntryTable;
  model_key: ModelKeyTable;
  project: ProjectTable;
  api_key: ApiKeyTable;
  flow: FlowTable;
  flow_version: FlowVersionTable;
  run: RunTable;
  block_run: BlockRunTable;
  ledger_entry: LedgerEntryTable;
  rate_limit: RateLimitTable;
  idempotency_key: IdempotencyKeyTable;
  webhook_secret: WebhookSecretTable;
  webhook_delivery: WebhookDeliveryTable;
  webhook_attempt: WebhookAttemptTable;
}

// The types of the tables for Kysely. A test compares schema.sql with the migrated database.
import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { CodeLog } from '../flow/code-log.ts';
import type { FlowDefinition, Json, ProcessorType } from '../flow/definition.ts';
import type { DeliveryStatus, WebhookEvent } from '../flow/delivery.ts';
import type { ErrorCode } from '../flow/errors.ts';
import type { KeptAnswer } from '../flow/model-call.ts';
import type { RunOutcome } from '../flow/run.ts';
import type { PausePoint } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import type { TraceContext } from '../platform/observability/tracing.ts';
import type { ApiKeyTable, ConnectedAssistantTable, Now, OperatorKeyTable } from './tables/access.ts';
import type { BulkRetryTable } from './tables/bulk-retries.ts';
import type { StoredRunInput } from './tables/run-input.ts';
import type { TestCaseTable, TestResultTable, TestRunTable } from './tables/test-runs.ts';

/** An attempt at a block that failed and was repeated; the times are ISO 8601. */
export type FailedAttempt = {
  number: number;
  startedAt: string;
  endedAt: string;
  code: ErrorCode;
  message: string;
};

interface BlockRunTable {
  execution_id: string;
  block_key: string;
  step_id: string;
  name: string;
  processor_type: ProcessorType;
  /**
   * `paused`: the model asked for tools, and the output is the conversation up to there. `cancelled`: in flight when
   * its call was cancelled or failed; without an output or an error.
   */
  status: 'completed' | 'failed' | 'paused' | 'cancelled';
  /** A Value (flow/value.ts) over the run's message and the outputs of its other blocks. */
  input: ColumnType<Value, string, string>;
  /** null when the block failed, and when the output is in the object of a linked row of stored_object. */
  output: ColumnType<Json, string | null, string | null>;
  error: ColumnType<{ code: ErrorCode; message: string } | null, string | null, string | null>;
  /** The model's last answer, of an llm block that failed; of another one, the reasoning of the answer. */
  last_answer: ColumnType<KeptAnswer | null, string | null, string | null>;
  /** The console lines of a code block; null without any. */
  logs: ColumnType<CodeLog[] | null, string | null, string | null>;
  /** The first and the last attempts that failed before the last attempt; null without any. */
  failed_attempts: FailedAttempt[] | null;
  model: string | null;
  prompt_tokens: Generated<number>;
  /** Parts of the prompt tokens: read from a cache, and written to one. */
  cached_tokens: Generated<number>;
  cache_write_tokens: Generated<number>;
  completion_tokens: Generated<number>;
  /** Part of the completion tokens. */
  reasoning_tokens: Generated<number>;
  /** Whether a provider left out counts, which are estimated. */
  usage_estimated: Generated<boolean>;
  cost_microcredits: Generated<number>;
  /** The cost beyond the balance, or the maximum of the run: the operator bears it. */
  uncharged_microcredits: Generated<number>;
  latency_ms: number;
  attempts: number;
  /** Whether the output is one that the run was given, and the block did not run. */
  pinned: Generated<boolean>;
  started_at: Date;
  finished_at: Date;
  /** The id (xid8) of the transaction that recorded the block: the order of a run's events. */
  recorded: Generated<string>;
}

/** A block that takes long or that its provider rejected, until its end is recorded. */
interface BlockUnderWayTable {
  execution_id: string;
  block_key: string;
  step_id: string;
  name: string;
  processor_type: ProcessorType;
  /** As in block_run. */
  input: ColumnType<Value, string, string>;
  model: string | null;
  /** The attempts so far, including the one in flight. */
  attempts: number;
  started_at: Date;
  /** The provider's last rejection, in words for callers. */
  last_error: Generated<string | null>;
  /** When the next attempt is due; null during an attempt. */
  next_attempt_at: Generated<Date | null>;
  /** As in block_run. */
  failed_attempts: Generated<FailedAttempt[] | null>;
  /** The id (xid8) of the transaction that last changed the row. */
  recorded: Generated<string>;
}

/** Secrets as platform/secrets/encrypt.ts writes them. */
interface WebhookSecretTable {
  organization_id: string;
  version: number;
  current_secret: string;
  previous_secret: string | null;
  created_at: Now;
  rotated_at: Date | null;
  grace_until: Date | null;
}

/** Added by a trigger in the transaction that ends a run with a callback, or for a test. */
interface WebhookDeliveryTable {
  id: Generated<string>;
  seq: Generated<number>;
  organization_id: string;
  /** The project of the run; null: a test. */
  project_id: Generated<string | null>;
  /** null: a test. */
  execution_id: string | null;
  event_type: WebhookEvent;
  target_url: string;
  status: Generated<DeliveryStatus>;
  /** Counts from 1. Each round counts its attempts anew. */
  round: Generated<number>;
  attempt: Generated<number>;
  response_status: number | null;
  last_attempted_at: Date | null;
  next_attempt_at: Date | null;
  error_message: string | null;
  /** The body of every attempt, from the first one on. */
  body: string | null;
  created_at: Generated<Date>;
  /** When to check whether it is still being delivered. */
  check_at: Generated<Date>;
}

interface WebhookAttemptTable {
  delivery_id: string;
  round: number;
  attempt: number;
  started_at: Now;
  /** null while it runs, and when its worker was lost. */
  duration_ms: number | null;
  response_status: number | null;
  /** The sent headers, as JSON; null while it runs, and when its worker was lost. */
  request_headers: JSONColumnType<
    { [name: string]: string } | null,
    string | null | undefined,
    string | null
  >;
  /** The first characters. */
  response_body: string | null;
  error_message: string | null;
}

interface WebhookTables {
  webhook_secret: WebhookSecretTable;
  webhook_delivery: WebhookDeliveryTable;
  webhook_attempt: WebhookAttemptTable;
}

/** Sums of a day (UTC), by tenant and subject. */
interface UsageTable {
  organization_id: string;
  day: ColumnType<Date, string, string>;
  project_id: string;
  flow_id: string;
  /** 0 for drafts. */
  version: number;
  /** The key_id of the API key; empty for users. */
  key_id: string;
  /** The subject: runs, requests rejected by a rate limit, code with costs, or calls of this model. */
  subject: string;
  /** The class of latencies (db/usage/count-usage.ts); -1 without a measurement. */
  latency: number;
  count: number;
  failures: number;
  cancelled: Generated<number>;
  refused: Generated<number>;
  prompt_tokens: number;
  cached_tokens: Generated<number>;
  cache_write_tokens: Generated<number>;
  completion_tokens: number;
  reasoning_tokens: Generated<number>;
  microcredits: number;
}

/** A change of a run's status whose differences are to be added to `usage`. */
interface UsagePendingTable {
  /** A call; the run itself when the run began with it. */
  execution_id: string;
  id: Generated<number>;
  at: Date;
  /** Whether the call's block executions are to be counted. */
  call_ended: boolean;
  runs: number;
  failures: number;
  cancelled: number;
  refused: number;
}

interface LedgerEntryTable {
  id: Generated<number>;
  organization_id: string;
  /** `grant/{key}` or `charge/{callId}/{blockKey}`: a repeated activity finds its own entry. */
  entry_key: string;
  kind: 'grant' | 'charge';
  /** Positive for a grant, negative for a charge. */
  amount_microcredits: number;
  execution_id: string | null;
  created_at: Now;
}

/** Credits that are reserved for a block execution during its model call. */
interface ReservationTable {
  execution_id: string;
  block_key: string;
  organization_id: string;
  microcredits: number;
  reserved_at: Now;
}

/** A user who has had the starting credits of an organization and gets none for another. */
interface StartingGrantTable {
  user_id: string;
  organization_id: string;
  granted_at: Now;
}

interface StoredObjectTable {
  /** The call and the block of the output; the key is empty for the call's input. */
  execution_id: string;
  block_key: string;
  /** In hexadecimal. */
  sha256: string;
  /** `bucket/key`. */
  location: string;
  bytes: number;
  /** Whether a block or call was recorded with this value. Before, and after a crash, nobody reads it. */
  linked: Generated<boolean>;
  created_at: Generated<Date>;
  /** When the deletion began; such a row is never linked again. */
  doomed_at: Date | null;
}

/** The name and e-mail address of a user who has acted in an organization, also after leaving it. */
interface MemberProfileTable {
  organization_id: string;
  user_id: string;
  name: string | null;
  email: string | null;
  email_verified: boolean;
  /** When the token with these claims was issued. */
  told_at: Date;
}

/** An invitation that is neither accepted nor revoked; it may have expired. */
interface InvitationTable {
  id: Generated<string>;
  organization_id: string;
  /** In lower case. */
  email: string;
  role: 'admin' | 'member';
  /** The user who invited. */
  invited_by: string;
  created_at: Now;
  expires_at: Date;
}

export type Environment = 'live' | 'test';
export const RUN_MODES = ['execute', 'jobs', 'step', 'test'] as const;
export type RunMode = (typeof RUN_MODES)[number];
/** `tool_calls_required` and `in_progress` wait for their caller. */
export const RUN_STATUSES = ['started', 'completed', 'failed', 'tool_calls_required', 'in_progress'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
/** How runs end. `cancelled` and `refused` ones have the status `failed`; refused: by a provider or its model. */
export const RUN_OUTCOMES = ['completed', 'failed', 'cancelled', 'refused'] as const;
export type RunOutcomeName = (typeof RUN_OUTCOMES)[number];
/** The statuses of runs that have not ended. */
export const OPEN_RUN_STATUSES = ['started', 'tool_calls_required', 'in_progress'] as const;
export type Role = 'owner' | 'admin' | 'member';

interface OrganizationTable {
  id: Generated<string>;
  slug: string;
  name: string;
  description: Generated<string>;
  /** Read as a number although it is a bigint (connect.ts): balances stay far below 2^53 microcredits. */
  balance_microcredits: Generated<number>;
  /** The balance is low below this; null: never. */
  low_balance_microcredits: number | null;
  /** Maximum number of its runs in flight; 0: no limit; null: the service's default. */
  runs_under_way_max: number | null;
  /** When and why it was suspended; the reason is optional. */
  suspended_at: Date | null;
  suspension_reason: string | null;
  created_at: Now;
  updated_at: Now;
  deleted_at: Date | null;
}

interface MembershipTable {
  organization_id: string;
  /** The `sub` of the user's tokens. */
  user_id: string;
  role: Role;
  created_at: Now;
  updated_at: Now;
}

interface ProjectTable {
  id: Generated<string>;
  organization_id: string;
  slug: string;
  name: string;
  description: Generated<string>;
  user_id: string | null;
  created_at: Now;
  updated_at: Now;
  deleted_at: Date | null;
}

interface FlowTable {
  id: Generated<string>;
  project_id: string;
  slug: string;
  name: string;
  description: Generated<string>;
  draft: JSONColumnType<FlowDefinition>;
  /** SHA-256 of the draft's text, by a trigger. */
  draft_digest: ColumnType<Buffer, undefined, never>;
  production_version: number | null;
  created_at: Now;
  updated_at: Now;
  deleted_at: Date | null;
}

interface FlowVersionTable {
  id: Generated<string>;
  flow_id: string;
  /** null: the snapshot of a draft (or of a judge), stored once per content. */
  version: number | null;
  note: string;
  definition: JSONColumnType<FlowDefinition>;
  /** As `draft_digest` of a flow: equal texts have equal digests. null for snapshots. */
  definition_digest: ColumnType<Buffer | null, undefined, never>;
  created_at: Now;
  /** The audit-log actor who published the version; null for snapshots and when unknown. */
  published_by: string | null;
  /** SHA-256 of the definition, for snapshots of drafts. */
  digest: ColumnType<Buffer | null, Buffer | undefined, never>;
  /** The number of blocks of the definition; null until it was counted. */
  block_count: Generated<number | null>;
}

type StoredError = Extract<RunOutcome, { status: 'failed' }>['error'];

export interface RunTable {
  execution_id: string;
  organization_id: string;
  project_id: string;
  flow_id: string;
  flow_version_id: string;
  mode: RunMode;
  environment: Environment;
  status: Generated<RunStatus>;
  /** Null when it is in the object store. */
  input: ColumnType<StoredRunInput | null, string | null, string | null>;
  /** A Value (flow/value.ts): small results as they are, large ones as references to block_run rows. */
  result: ColumnType<Value | null, string | null, string | null>;
  error: ColumnType<StoredError | null, string | null, string | null>;
  /** How the run ended; otherwise its status. */
  outcome: ColumnType<RunOutcomeName | (typeof OPEN_RUN_STATUSES)[number], never, never>;
  /** Equal for failures of the flow that are alike; null for runs that have not failed, or were cancelled. */
  error_group: ColumnType<string | null, never, never>;
  started_at: Now;
  finished_at: Date | null;
  cancel_requested_at: Date | null;
  /** The audit-log actor who cancelled the run; null for later calls. */
  cancelled_by: string | null;
  /** The providers for which its request sent a key. */
  model_key_providers: string[] | null;
  /** The keys that its request sent, encrypted. Null once the call has ended, has paused or was asked to cancel. */
  model_keys: ColumnType<{ [provider: string]: string } | null, string | null, string | null>;
  /** Set together with `callback_events`, or not at all. */
  callback_url: string | null;
  callback_events: WebhookEvent[] | null;
  /** The run that this call continues; null for the first call. */
  continues: string | null;
  /** The steps that such a call runs: from the plan's index `step_from` up to `step_to`, exclusive. */
  step_from: number | null;
  step_to: number | null;
  /** Whether the end of this call is the end of the run. */
  concludes: Generated<boolean>;
  /** The call that ended or resumed last; `result` refers to its blocks. */
  concluded_by: string | null;
  /** The key_id of the API key whose request this was; null for a user. */
  key_id: string | null;
  /** The user whose request this was; null for a key. */
  started_by: string | null;
  /** The id of the request that began the call; null without one. */
  request_id: Generated<string | null>;
  /** The run that this one repeats. */
  repeats: string | null;
  /** The run with which the chain of repetitions began; null for a run that repeats none. */
  first_attempt: string | null;
  /** The bulk retry that started the run. */
  bulk_id: string | null;
  /** The trace of the request that began the call; null while tracing is off. */
  trace_context: ColumnType<TraceContext | null, string | null | undefined, never>;
  /** The point where this call paused. */
  pause: ColumnType<PausePoint | null, string | null, string | null>;
}

/** A token bucket of requests, stored as the time at which it is full again (GCRA). */
interface RateLimitTable {
  /** The id of an API key or an organization, or the hash of a userId. */
  subject: string;
  full_at: Date;
  /** Whether there were tokens left for the requests that wrote the row. */
  allowed: boolean;
}

export interface IdempotencyKeyTable {
  project_id: string;
  endpoint: Exclude<RunMode, 'test'>;
  key: string;
  /** SHA-256 of the first request that used the key. */
  digest: Buffer;
  execution_id: string;
  created_at: Now;
}

/** The result of a write that was sent with an Idempotency-Key. */
interface KeptResultTable {
  actor: string;
  path: string;
  key: string;
  /** SHA-256 of the first request that used the key. */
  digest: Buffer;
  /** Encrypted. null only within the transaction of the write. */
  result: string | null;
  created_at: Now;
}

/** An organization's own key for a model provider, encrypted. */
interface ModelKeyTable {
  organization_id: string;
  provider: string;
  secret: string;
  preview: string;
  created_by: string;
  updated_at: Now;
}

/** A record of who changed what: one row per management write, in its transaction. */
interface AuditEntryTable {
  id: Generated<number>;
  /** The id that readers see. */
  entry_id: Generated<string>;
  organization_id: string;
  /** A user id, `api_key/{key_id}`, `operator/{key_id}`, or `service`. */
  actor: string;
  /** `resource.verb`. */
  action: string;
  resource_id: string;
  details: JSONColumnType<{ [field: string]: Json }>;
  request_id: string;
  /** The trace of the request; null while tracing is off. */
  trace_id: string | null;
  created_at: Now;
}

export interface Schema extends WebhookTables {
  organization: OrganizationTable;
  membership: MembershipTable;
  member_profile: MemberProfileTable;
  invitation: InvitationTable;
  connected_assistant: ConnectedAssistantTable;
  audit_entry: AuditEntryTable;
  model_key: ModelKeyTable;
  project: ProjectTable;
  api_key: ApiKeyTable;
  operator_key: OperatorKeyTable;
  api_key_pepper: { is_only: Generated<boolean>; hmac: Buffer };
  flow: FlowTable;
  flow_version: FlowVersionTable;
  bulk_retry: BulkRetryTable;
  run: RunTable;
  block_run: BlockRunTable;
  block_under_way: BlockUnderWayTable;
  stored_object: StoredObjectTable;
  ledger_entry: LedgerEntryTable;
  reservation: ReservationTable;
  starting_grant: StartingGrantTable;
  usage: UsageTable;
  usage_pending: UsagePendingTable;
  rate_limit: RateLimitTable;
  /** One row: the engine whose workers reconcile, and when they last did. */
  reconciler: { is_only: Generated<boolean>; engine: string; renewed_at: Generated<Date> };
  idempotency_key: IdempotencyKeyTable;
  kept_result: KeptResultTable;
  test_case: TestCaseTable;
  test_run: TestRunTable;
  test_result: TestResultTable;
}

import type { Generated, JSONColumnType } from 'kysely';
import type { DeliveryStatus, WebhookEvent } from '../../flow/delivery.ts';
import type { Now } from './now.ts';

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

/** A delivery that has its turn at its destination, or waits for it. */
interface WebhookTurnTable {
  delivery_id: string;
  round: number;
  organization_id: string;
  host: string;
  since: Generated<Date>;
  /** null: it waits. */
  held_until: Date | null;
  has_workflow: boolean;
}

export interface WebhookTables {
  webhook_secret: WebhookSecretTable;
  webhook_delivery: WebhookDeliveryTable;
  webhook_attempt: WebhookAttemptTable;
  webhook_turn: WebhookTurnTable;
}

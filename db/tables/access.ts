// Tables of API keys and connected assistants for Kysely.
import type { ColumnType, Generated } from 'kysely';

/** A time that defaults to the database's time at the insert. */
export type Now = ColumnType<Date, Date | undefined, Date>;

/** The scopes of API keys: what a key may do. */
export const KEY_SCOPES = ['run', 'read', 'deploy', 'webhooks'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
/** The scopes of a key that is made without any. */
export const DEFAULT_KEY_SCOPES: readonly KeyScope[] = ['run', 'webhooks'];

export interface ApiKeyTable {
  id: Generated<string>;
  key_id: string;
  project_id: string;
  environment: 'live' | 'test';
  name: string;
  scopes: ColumnType<KeyScope[], KeyScope[] | undefined, never>;
  secret_hmac: Buffer;
  created_at: Now;
  expires_at: Date | null;
  revoked_at: Date | null;
  /** The user who made it; null for an operator. */
  created_by: string | null;
  /** To the minute. */
  last_used_at: Date | null;
}

/** A key of an operator of the service, who may act as an owner of every organization. */
export interface OperatorKeyTable {
  id: Generated<string>;
  key_id: string;
  name: string;
  secret_hmac: Buffer;
  created_at: Now;
  /** To the minute. */
  last_used_at: Date | null;
  revoked_at: Date | null;
  /** The actor who revoked it: a user id, or `operator/{key_id}`. */
  revoked_by: string | null;
}

/** An OAuth client that has used MCP for a user. */
export interface ConnectedAssistantTable {
  id: Generated<string>;
  user_id: string;
  /** Empty for clients whose tokens do not name them. */
  client_id: string;
  name: string | null;
  /** The scopes of the latest token. */
  scopes: string[];
  /** The latest known consent. */
  consented_at: Date;
  first_used_at: Now;
  /** To the minute. */
  last_used_at: Now;
  /** Tokens of earlier consents are rejected. */
  disconnected_at: Date | null;
}

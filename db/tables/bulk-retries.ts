// The table of bulk retries as Kysely sees it.
import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { Json } from '../../flow/definition.ts';
import type { ErrorCode } from '../../flow/errors.ts';
import type { Now } from './access.ts';

/** A failed run that was not retried, with the reason. */
export type Refusal = { executionId: string; code: ErrorCode; errorMessage: string };

/** Many retries that one request began, and others continued. */
export interface BulkRetryTable {
  id: string;
  organization_id: string;
  project_id: string;
  /** The audit-log actor. */
  started_by: string;
  started_at: Now;
  /** The filter of the request, and the version that it asked for. */
  filter: JSONColumnType<{ [field: string]: Json }>;
  /** The number of failed runs that the requests have found so far. */
  planned: number;
  /** How many of them were not retried. */
  refused: Generated<number>;
  /** The first of these. */
  refusals: ColumnType<Refusal[], never, string>;
  /** The error that ended it early. */
  stopped_by: ErrorCode | null;
  /** Where the next request continues; null when there is no more. */
  next_cursor: string | null;
  cancelled_at: Date | null;
  cancelled_by: string | null;
}

import { createHash } from 'node:crypto';
import { deriveId } from '../../../db/timed-id.ts';
import { canonicalJson } from '../../../flow/canonical-json.ts';

/**
 * Derives the id of a call (a version 8 UUID) from its run and what it asks for: a repeated request has the same id. It begins
 * with the time of its run's id, so that what is stored of both lies together.
 */
export function deriveCallId(executionId: string, asked: unknown): string {
  const hash = createHash('sha256')
    .update(`${executionId}\n${canonicalJson(asked)}`)
    .digest();
  return deriveId(executionId, hash);
}

/** Returns the id of the call that opens a session. */
export function firstCallOf(executionId: string): string {
  return deriveCallId(executionId, 'first call');
}

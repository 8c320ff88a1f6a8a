import { createHash } from 'node:crypto';
import { deriveId } from '../../../db/timed-id.ts';
import { canonicalJson } from '../../../flow/canonical-json.ts';

/**
 * Derives the id of a call (a version 8 UUID) from its run and its content: a repeated request has the same id. The
 * id begins with the time of the run's id, so that their rows are stored together.
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

import { createHash } from 'node:crypto';
import { canonicalJson } from '../../flow/canonical-json.ts';

/** Derives the id of a call (a version 8 UUID) from its run and what it asks for: a repeated request has the same id. */
export function deriveCallId(executionId: string, asked: unknown): string {
  const hash = createHash('sha256')
    .update(`${executionId}\n${canonicalJson(asked)}`)
    .digest();
  hash[6] = ((hash[6] as number) & 0x0f) | 0x80;
  hash[8] = ((hash[8] as number) & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../flow/canonical-json.ts';

/** Digests everything by which two requests are equal. The order of keys makes no difference. */
export function digestRequest(...parts: unknown[]): Buffer {
  return createHash('sha256').update(canonicalJson(parts)).digest();
}

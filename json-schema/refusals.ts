// What was cut off once would be again: it is refused for a while without being tried.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Json } from '../flow/definition.ts';
import { REFUSALS_MAX, REFUSED_MS, SMALL_VALUE_LENGTH } from './limits.ts';

export type Refusals = {
  /** Why a value is not checked against a schema (its text), or the schema not compiled; undefined when it is tried. */
  find(organization: string, schema: string, value?: Json): string | undefined;
  /** `value`: of whose size the schema took too long; without it, or with a small one, whatever the value. */
  remember(organization: string, schema: string, reason: string, value?: Json): void;
};

/** Remembers, by organization, the schemas that were cut off, and from which size of value on; a bounded number. */
export function createRefusals(): Refusals {
  const refused = new LRUCache<string, { reason: string; fromLength: number }>({
    max: REFUSALS_MAX,
    ttl: REFUSED_MS,
  });
  const keyOf = (organization: string, schema: string) =>
    `${organization}/${createHash('sha256').update(schema).digest('base64')}`;
  return {
    find(organization, schema, value) {
      if (refused.size === 0) return undefined;
      const refusal = refused.get(keyOf(organization, schema));
      if (!refusal || (refusal.fromLength > 0 && lengthOf(value) < refusal.fromLength)) return undefined;
      return refusal.reason;
    },
    remember(organization, schema, reason, value) {
      const length = lengthOf(value);
      // Half: somebody who sends a little less each time is stopped after a few times.
      const fromLength = length <= SMALL_VALUE_LENGTH ? 0 : length / 2;
      refused.set(keyOf(organization, schema), { reason, fromLength });
    },
  };
}

function lengthOf(value: Json | undefined): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}

// A check that was stopped once would be stopped again: it is refused for a while without being tried.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { SLOW_SCHEMA_MS, SLOW_SCHEMAS_MAX, SMALL_VALUE_LENGTH } from './limits.ts';

type SlowSchemas = {
  /**
   * Returns why a schema (its text), or a value of this length as JSON with it, is refused without being tried; undefined when
   * it may be tried.
   */
  find(organization: string, schema: string, length?: number): string | undefined;
  /** Remembers that a schema took too long: for values of about this length, or for any if there was none or a small one. */
  remember(organization: string, schema: string, reason: string, length?: number): void;
};

/** Creates a bounded memory of the schemas that were stopped, by organization, and from which size of value on. */
export function createSlowSchemas(): SlowSchemas {
  const stopped = new LRUCache<string, { reason: string; fromLength: number }>({
    max: SLOW_SCHEMAS_MAX,
    ttl: SLOW_SCHEMA_MS,
  });
  const keyOf = (organization: string, schema: string) =>
    `${organization}/${createHash('sha256').update(schema).digest('base64')}`;
  return {
    find(organization, schema, length = 0) {
      if (stopped.size === 0) return undefined;
      const slow = stopped.get(keyOf(organization, schema));
      if (!slow || (slow.fromLength > 0 && length < slow.fromLength)) return undefined;
      return slow.reason;
    },
    remember(organization, schema, reason, length = 0) {
      // Half, so that a caller who sends a little less each time is stopped after a few times.
      const fromLength = length <= SMALL_VALUE_LENGTH ? 0 : length / 2;
      stopped.set(keyOf(organization, schema), { reason, fromLength });
    },
  };
}

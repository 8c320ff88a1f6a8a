import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { FlowDefinition } from '../../flow/definition.ts';
import type { Db } from '../connect.ts';

/** Characters of JSON that one process caches. */
const CACHED_MAX_CHARS = 64 * 1024 * 1024;

export type FlowDefinitions = {
  /** Loads the definition of a flow version, which never changes, by the version's id. */
  get(flowVersionId: string): Promise<FlowDefinition>;
  /** Measures such a definition as JSON, in bytes, without loading it. */
  measure(flowVersionId: string): Promise<number>;
};

/** Creates the cache of definitions that API and worker of one process share. */
export function createFlowDefinitions(db: Db): FlowDefinitions {
  const cache = new LRUCache<string, FlowDefinition>({
    maxSize: CACHED_MAX_CHARS,
    sizeCalculation: (definition) => JSON.stringify(definition).length,
  });
  return {
    async get(flowVersionId) {
      const cached = cache.get(flowVersionId);
      if (cached) return cached;
      const { definition } = await db
        .selectFrom('flow_version')
        .select('definition')
        .where('id', '=', flowVersionId)
        .executeTakeFirstOrThrow();
      cache.set(flowVersionId, definition);
      return definition;
    },
    async measure(flowVersionId) {
      const { bytes } = await db
        .selectFrom('flow_version')
        .select(sql<number>`octet_length(definition::text)`.as('bytes'))
        .where('id', '=', flowVersionId)
        .executeTakeFirstOrThrow();
      return bytes;
    },
  };
}

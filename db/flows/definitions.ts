import { LRUCache } from 'lru-cache';
import type { FlowDefinition } from '../../flow/definition.ts';
import type { Db } from '../connect.ts';

/** Characters of JSON kept by one process. */
const KEPT_MAX_CHARS = 64 * 1024 * 1024;

export type Definitions = { get(flowVersionId: string): Promise<FlowDefinition> };

const shared = new WeakMap<Db, Definitions>();

/** Definitions of published versions, by the version's id; they never change, so they are kept, once per database. */
export function definitionsOf(db: Db): Definitions {
  const definitions = shared.get(db) ?? createDefinitions(db);
  shared.set(db, definitions);
  return definitions;
}

function createDefinitions(db: Db): Definitions {
  const kept = new LRUCache<string, FlowDefinition>({
    maxSize: KEPT_MAX_CHARS,
    sizeCalculation: (definition) => JSON.stringify(definition).length,
  });
  return {
    async get(flowVersionId) {
      const known = kept.get(flowVersionId);
      if (known) return known;
      const { definition } = await db
        .selectFrom('flow_version')
        .select('definition')
        .where('id', '=', flowVersionId)
        .executeTakeFirstOrThrow();
      kept.set(flowVersionId, definition);
      return definition;
    },
  };
}

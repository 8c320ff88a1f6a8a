import { sql } from 'kysely';
import type { FlowDefinition } from '../../flow/definition.ts';
import { listBlocks } from '../../flow/plan.ts';
import { BRACE, BRACKET, COMMA } from '../../platform/json-text/scan-json.ts';
import { createSharedCache } from '../../platform/limits/shared-cache.ts';
import { createSharedReads, type Db } from '../connect.ts';

/** Approximate memory for cached definitions in one process, in bytes. */
const CACHED_MAX_BYTES = 128 * 1024 * 1024;
/** Measured: an empty object in a list, which has two of these characters, takes 64 bytes. */
const MARK_BYTES = 32;

export type FlowDefinitions = {
  /** Loads the definition of a flow version, which is immutable, by the version's id. */
  get(flowVersionId: string): Promise<FlowDefinition>;
  /** Returns a definition that is loaded already. */
  peek(flowVersionId: string): FlowDefinition | undefined;
  /** Returns the size of a definition as JSON, in bytes, without loading it. */
  measure(flowVersionId: string): Promise<number>;
  /** Counts the blocks of a flow version, and stores the number in its row when possible. */
  countBlocks(flowVersionId: string): Promise<number>;
};

/**
 * Creates the cache of definitions that the API and the worker of one process share. Organizations share its memory.
 */
export function createFlowDefinitions(db: Db): FlowDefinitions {
  const cache = createSharedCache<FlowDefinition>(CACHED_MAX_BYTES);
  const shareLoad = createSharedReads();
  const shareCount = createSharedReads();

  async function load(flowVersionId: string): Promise<FlowDefinition> {
    const { organizationId, text } = await getText(db, flowVersionId);
    const definition: FlowDefinition = JSON.parse(text);
    cache.set(organizationId, flowVersionId, definition, estimateBytes(text));
    return definition;
  }

  async function get(flowVersionId: string): Promise<FlowDefinition> {
    return cache.get(flowVersionId) ?? shareLoad(flowVersionId, () => load(flowVersionId));
  }

  async function count(flowVersionId: string): Promise<number> {
    const { length } = listBlocks(await get(flowVersionId));
    const stored = db
      .updateTable('flow_version')
      .set({ block_count: length })
      .where('id', '=', flowVersionId)
      .where('block_count', 'is', null)
      .execute();
    await stored.catch(() => undefined);
    return length;
  }

  async function measure(flowVersionId: string): Promise<number> {
    const { bytes } = await db
      .selectFrom('flow_version')
      .select(sql<number>`octet_length(definition::text)`.as('bytes'))
      .where('id', '=', flowVersionId)
      .executeTakeFirstOrThrow();
    return bytes;
  }

  return {
    get,
    peek: cache.get,
    measure,
    countBlocks: (flowVersionId) => shareCount(flowVersionId, () => count(flowVersionId)),
  };
}

function getText(db: Db, flowVersionId: string) {
  return db
    .selectFrom('flow_version')
    .innerJoin('flow', 'flow.id', 'flow_version.flow_id')
    .innerJoin('project', 'project.id', 'flow.project_id')
    .select(['project.organization_id as organizationId'])
    .select(sql<string>`flow_version.definition::text`.as('text'))
    .where('flow_version.id', '=', flowVersionId)
    .executeTakeFirstOrThrow();
}

/**
 * Estimates the memory of a definition: its text twice, because its schemas are kept as text, and its values, which
 * may take twenty times as much.
 */
function estimateBytes(json: string): number {
  let marks = 0;
  for (let place = 0; place < json.length; place++) {
    const char = json.charCodeAt(place);
    if (char === COMMA || char === BRACE || char === BRACKET) marks += 1;
  }
  return 2 * json.length + MARK_BYTES * marks;
}

import { LRUCache } from 'lru-cache';
import type { Db } from '../db/connect.ts';
import { loadReferences } from '../db/runs/load-references.ts';
import { loadThroughCache } from '../db/runs/load-through-cache.ts';
import type { StoredRunInput } from '../db/tables/run-input.ts';
import type { Json } from '../flow/definition.ts';
import { OUTPUTS_READ_MAX_BYTES } from '../flow/limits.ts';
import { INPUT_REF, MESSAGE_REF, resolveValue, type Stored, type Value } from '../flow/value.ts';

/** Bytes, as JSON, of the parsed outputs that are cached: a loop reads a stored array once per item. */
const OUTPUTS_KEPT_BYTES = 2 * OUTPUTS_READ_MAX_BYTES;

/** Creates a function that resolves a value of a call to its JSON; `readInput` reads the call's input. */
export function createValueResolver(
  db: Db,
  readInput: (callId: string) => Promise<StoredRunInput>,
): (callId: string, value: Value) => Promise<Json> {
  const outputs = new LRUCache<string, Stored>({
    maxSize: OUTPUTS_KEPT_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
  });
  return (callId, value) =>
    resolveValue(value, async (refs) => {
      const { message, continuation } = await readInput(callId);
      const given = new Map([
        [MESSAGE_REF, { json: message }],
        [INPUT_REF, { json: continuation?.input ?? null }],
      ]);
      const absent = refs.filter((ref) => !given.has(ref));
      const stored = await loadThroughCache(outputs, callId, absent, (keys) =>
        loadReferences(db, callId, keys),
      );
      return new Map<string, { json: Json }>([...given, ...stored]);
    });
}

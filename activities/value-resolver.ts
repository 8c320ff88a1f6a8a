import { LRUCache } from 'lru-cache';
import type { Db } from '../db/connect.ts';
import { loadReferences } from '../db/stored-values/load-references.ts';
import { loadThroughCache } from '../db/stored-values/load-through-cache.ts';
import type { StoredRunInput } from '../db/tables/run-input.ts';
import type { Json } from '../flow/definition.ts';
import { OUTPUTS_READ_MAX_BYTES } from '../flow/limits.ts';
import { INPUT_REF, isLeaf, MESSAGE_REF, resolveValue, type Stored, type Value } from '../flow/value.ts';

/** Bytes, as JSON, of the parsed outputs that are cached: a loop reads a stored array once per item. */
const OUTPUTS_KEPT_BYTES = 2 * OUTPUTS_READ_MAX_BYTES;

/** Outputs that are cached: some loops' worth. */
const OUTPUTS_KEPT = 10_000;

/** Counted for each output besides its bytes: about what it takes in memory, its key included. */
const OUTPUT_OVERHEAD_BYTES = 256;

/** A larger output is read when it is needed: meanwhile it would take its memory from others. */
const KEPT_OUTPUT_MAX_BYTES = 256 * 1024;

type ValueResolver = {
  /** Resolves a value of a call to its JSON, which is read `from` the database. */
  resolve(callId: string, value: Value, from?: Db): Promise<Json>;
  /** Keeps an output that was just recorded for the next block, which gets it by reference. */
  keep(callId: string, value: Value, serialized: string | Buffer | undefined): void;
};

/** Creates the resolver of a process; `readInput` reads the input of a call. */
export function createValueResolver(
  db: Db,
  readInput: (callId: string) => Promise<StoredRunInput>,
): ValueResolver {
  const outputs = new LRUCache<string, Stored>({
    max: OUTPUTS_KEPT,
    maxSize: OUTPUTS_KEPT_BYTES,
    sizeCalculation: ({ bytes }) => bytes + OUTPUT_OVERHEAD_BYTES,
  });
  return {
    resolve: (callId, value, from = db) =>
      resolveValue(value, async (refs) => {
        const { message, continuation } = await readInput(callId);
        const given = new Map([
          [MESSAGE_REF, { json: message }],
          [INPUT_REF, { json: continuation?.input ?? null }],
        ]);
        const absent = refs.filter((ref) => !given.has(ref));
        const stored = await loadThroughCache(outputs, callId, absent, (keys) =>
          loadReferences(from, callId, keys),
        );
        return new Map<string, { json: Json }>([...given, ...stored]);
      }),
    keep(callId, value, serialized) {
      if (typeof serialized !== 'string' || !isLeaf(value) || value.json !== undefined) return;
      const { ref, bytes = Number.POSITIVE_INFINITY } = value;
      if (bytes <= KEPT_OUTPUT_MAX_BYTES)
        outputs.set(`${callId}/${ref}`, { json: JSON.parse(serialized), bytes });
    },
  };
}

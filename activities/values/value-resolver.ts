import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import type { FlowDefinitions } from '../../db/flows/flow-definitions.ts';
import { findOutputsRead, type OutputsRead } from '../../db/runs/find-outputs-read.ts';
import type { RunContext } from '../../db/runs/runs.ts';
import { loadReferences, loadThroughCache } from '../../db/stored-values/load-references.ts';
import type { StoredRunInput } from '../../db/tables/run-input.ts';
import type { Facts } from '../../flow/compose-outputs.ts';
import type { Block, Json } from '../../flow/definition.ts';
import { OUTPUTS_READ_MAX_BYTES } from '../../flow/limits.ts';
import { INPUT_REF, isLeaf, MESSAGE_REF, resolveValue, type Stored, type Value } from '../../flow/value.ts';
import type { BlockExecution } from '../block-execution.ts';

/** Calls whose facts about loops are kept, so that a block in a loop does not find them out in each iteration. */
const CALLS_KEPT = 50;

/** Bytes, as JSON, of the parsed outputs that are cached: a loop reads a stored array once per item. */
const OUTPUTS_KEPT_BYTES = 2 * OUTPUTS_READ_MAX_BYTES;

/** Outputs that are cached: some loops' worth. */
const OUTPUTS_KEPT = 10_000;

/** Counted for each output besides its bytes: about what it takes in memory, its key included. */
const OUTPUT_OVERHEAD_BYTES = 256;

/** A larger output is read when it is needed: meanwhile it would take its memory from others. */
const KEPT_OUTPUT_MAX_BYTES = 256 * 1024;

type ValueResolver = {
  /** Resolves a value of a call to its JSON. */
  resolve(callId: string, value: Value): Promise<Json>;
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
    resolve: (callId, value) =>
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
      }),
    keep(callId, value, serialized) {
      if (typeof serialized !== 'string' || !isLeaf(value) || value.json !== undefined) return;
      const { ref, bytes = Number.POSITIVE_INFINITY } = value;
      if (bytes <= KEPT_OUTPUT_MAX_BYTES)
        outputs.set(`${callId}/${ref}`, { json: JSON.parse(serialized), bytes });
    },
  };
}

/** Creates the functions that find, and then load, the outputs of earlier steps that a block reads by their names. */
export function createOutputsReader(
  db: Db,
  definitions: FlowDefinitions,
  resolve: (callId: string, value: Value) => Promise<Json>,
) {
  const factsOfCalls = new LRUCache<string, Facts>({ max: CALLS_KEPT });
  return {
    async find(context: RunContext, execution: BlockExecution, block: Block): Promise<OutputsRead> {
      const definition = await definitions.get(context.flowVersionId);
      return findOutputsRead(db, execution, block, definition, context.input.continuation);
    },
    load(callId: string, read: OutputsRead): Promise<{ [stepId: string]: Json }> {
      const facts = factsOfCalls.get(callId) ?? new Map();
      factsOfCalls.set(callId, facts);
      return read.load((value) => resolve(callId, value), facts);
    },
  };
}

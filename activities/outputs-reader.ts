import { LRUCache } from 'lru-cache';
import type { Db } from '../db/connect.ts';
import type { FlowDefinitions } from '../db/flows/flow-definitions.ts';
import { findOutputsRead, type OutputsRead } from '../db/runs/find-outputs-read.ts';
import type { RunContext } from '../db/runs/runs.ts';
import type { Block, Json } from '../flow/definition.ts';
import type { Facts } from '../flow/look-up-facts.ts';
import type { Value } from '../flow/value.ts';
import type { BlockExecution } from './block-execution.ts';

/** Calls whose facts about loops are kept, so that a block in a loop does not find them out in each iteration. */
const CALLS_KEPT = 50;

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

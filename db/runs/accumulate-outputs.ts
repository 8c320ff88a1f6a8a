import { composeOutputs } from '../../flow/compose-outputs.ts';
import type { FlowDefinition, Json } from '../../flow/definition.ts';
import { toPlan } from '../../flow/plan.ts';
import { INPUT_REF, MESSAGE_REF } from '../../flow/value.ts';
import type { Db } from '../connect.ts';
import { referenceLoader } from '../stored-values/load-references.ts';
import { listBlocksOfCall } from './recorded-blocks.ts';
import { getRunInput } from './runs.ts';

/** A call, with the index of its first step in the plan; null for the first step of all. */
type Call = { callId: string; from: number | null; definition: FlowDefinition };

/** Merges the outputs that a call was given with those of its steps, up to the step `end` (exclusive). */
export async function accumulateOutputs(
  db: Db,
  { callId, from, definition }: Call,
  end: string,
): Promise<{ [stepId: string]: Json }> {
  const [{ continuation }, blocks] = await Promise.all([
    getRunInput(db, callId),
    listBlocksOfCall(db, callId),
  ]);
  const completed = blocks.filter(({ status }) => status === 'completed').map((block) => block.block_key);
  const to = definition.steps.findIndex(({ step_id }) => step_id === end);
  const steps = toPlan(definition.steps).slice(from ?? 0, to);
  const input = { ref: from ? INPUT_REF : MESSAGE_REF };
  const { outputs } = await composeOutputs(steps, new Set(completed), referenceLoader(db, callId), input);
  return { ...continuation?.outputs, ...outputs };
}

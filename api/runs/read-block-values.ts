// The input, sent request and output of a block execution, as JSON text. Outputs are not parsed. The sent request is
// rebuilt from stored data as the worker built it: a stored copy of every prompt would double the size of a run.
import type { FoundBlock } from '../../db/runs/block-traces.ts';
import { readOutputText } from '../../db/runs/block-traces.ts';
import { getRunInput } from '../../db/runs/runs.ts';
import { loadReferences, measureOutputs } from '../../db/stored-values/load-references.ts';
import { readResult, readResultText } from '../../db/stored-values/read-result.ts';
import { OUTPUTS_READ_MAX_BYTES } from '../../flow/limits.ts';
import { listVisibleSteps } from '../../flow/list-visible-steps.ts';
import { listBlocks } from '../../flow/plan.ts';
import { bytesToLoad } from '../../flow/value.ts';
import type { ApiDeps } from '../deps.ts';
import { readSentRequest } from './read-sent-request.ts';

export const BLOCK_VALUES = ['input', 'sent', 'output'] as const;
export type BlockValue = (typeof BLOCK_VALUES)[number];

/** Reads one of the values; undefined when the block has none: it sends nothing, or it failed. */
export async function readBlockValue(
  deps: ApiDeps,
  row: FoundBlock,
  value: BlockValue,
): Promise<string | undefined> {
  const { execution_id: callId, block_key: blockKey } = row;
  if (value === 'output') return readOutputText(deps.db, { callId, blockKey });
  if (value === 'input') return readResultText(deps.db, callId, row.input);
  const definition = await deps.definitions.get(row.flow_version_id);
  const block = listBlocks(definition).find(({ step_id }) => step_id === row.step_id);
  if (!block) return undefined;
  const source = {
    definition,
    input: (id: string) => getRunInput(deps.db, id),
    outputs: (id: string, refs: string[]) => loadReferences(deps.db, id, refs),
  };
  const input = block.processor_type === 'llm' ? await readResult(deps.db, callId, row.input) : null;
  const sent = await readSentRequest(deps, source, row, block, input);
  return sent === undefined ? undefined : JSON.stringify(sent);
}

/** Returns the maximum memory in bytes for reading these values. */
export async function measureBlockValues(
  { db, definitions }: ApiDeps,
  row: FoundBlock,
  values: readonly BlockValue[],
): Promise<number> {
  const ofInput = row.request_bytes + bytesToLoad(row.input);
  const bytes: { [value in BlockValue]: number } = { input: ofInput, output: row.output_bytes, sent: 0 };
  if (row.processor_type === 'llm' && values.includes('sent')) {
    // A prompt or its override may read the outputs of all steps that the block sees.
    const { steps } = await definitions.get(row.flow_version_id);
    const stepIds = listBlocks({ steps: listVisibleSteps(steps, row.step_id) ?? [] }).map(
      ({ step_id }) => step_id,
    );
    const read = stepIds.length === 0 ? 0 : await measureOutputs(db, row.execution_id, stepIds);
    bytes.sent = ofInput + Math.min(read, OUTPUTS_READ_MAX_BYTES);
  }
  return values.reduce((sum, value) => sum + bytes[value], 0);
}

import { ActivityFailure, isCancellation, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { isRegularCall } from '../flow/model-call.ts';
import { blockKey, listParallelBlocks, type PlannedBlock, type PlannedStep } from '../flow/plan.ts';
import type { BlockCall } from '../flow/run.ts';
import { isPause, type Pause } from '../flow/tool-calls.ts';
import { compact, type Value } from '../flow/value.ts';
import { blockActivities, fastModelActivities, modelActivities } from './activities.ts';
import { uncancelled } from './uncancelled.ts';

/** Block executions shown in the workflow's current details; older ones are in the history. */
const SHOWN_MAX = 50;
/** A longer input, serialized, is loaded by the model call itself, since one workflow task may schedule hundreds. */
const MODEL_INPUT_MAX_CHARS = 8_192;

/** A block that failed for good; `cause` is the failure of its activity. */
export class BlockFailure extends Error {
  readonly block: PlannedBlock;
  readonly iterations: number[];
  constructor(block: PlannedBlock, iterations: number[], error: unknown) {
    // A local activity fails as the failure itself, a regular one as an ActivityFailure around it.
    super(`Block ${block.name} failed`, { cause: error instanceof ActivityFailure ? error.cause : error });
    this.block = block;
    this.iterations = iterations;
  }
}

/**
 * Creates the function that runs each block of one call as one activity, under the block's name, and shows its state in the
 * workflow's current details. It rejects with BlockFailure.
 */
export function createBlockScheduler({
  callId,
  steps,
  lastBlock,
}: {
  callId: string;
  steps: PlannedStep[];
  lastBlock: PlannedBlock | undefined;
}) {
  const parallel = new Set(listParallelBlocks(steps));
  const lines = new Map<string, string>();

  function show(key: string, text: string): void {
    lines.set(key, text);
    if (lines.size > SHOWN_MAX) lines.delete(lines.keys().next().value as string);
    setCurrentDetails([...lines.values()].map((line) => `- ${line}`).join('\n'));
  }

  function runActivity(block: PlannedBlock, call: BlockCall, summary: string): Promise<Value | Pause> {
    switch (block.processor_type) {
      case 'llm':
        return runModelCall(call, summary, parallel.has(block));
      case 'code':
        return uncancelled(() => blockActivities.runCode.executeWithOptions({ summary }, [call]));
      case 'passthrough':
        return uncancelled(() => blockActivities.passThrough.executeWithOptions({ summary }, [call]));
    }
  }

  return async function runBlock(
    block: PlannedBlock,
    input: Value,
    iterations: number[],
  ): Promise<Value | Pause> {
    const key = blockKey(block.step_id, iterations);
    const summary = iterations.length > 0 ? `${block.name} #${iterations.join('.')}` : block.name;
    const showState = (state: string) => show(key, `${summary} (${block.processor_type}): ${state}`);
    showState('running');
    try {
      const call = {
        executionId: callId,
        stepId: block.step_id,
        blockKey: key,
        input,
        ends: block === lastBlock,
      };
      const output = await runActivity(block, call, summary);
      showState(isPause(output) ? 'waits for the results of tool calls' : 'completed');
      return output;
    } catch (error) {
      showState('failed');
      throw isCancellation(error) ? error : new BlockFailure(block, iterations, error);
    }
  };
}

/**
 * Calls a model: in a local activity while the model answers fast, which the activity itself decides, and otherwise in a regular
 * one. In a parallel step a local activity would delay what other branches begin.
 */
async function runModelCall(call: BlockCall, summary: string, inParallel: boolean): Promise<Value | Pause> {
  const reply = inParallel
    ? undefined
    : await uncancelled(() => fastModelActivities.callModel.executeWithOptions({ summary }, [call]));
  if (reply && !isRegularCall(reply)) return reply;
  const { priority } = workflowInfo();
  const options = { activityId: call.blockKey, summary, ...(priority && { priority }) };
  const lean = { ...call, input: compact(call.input, MODEL_INPUT_MAX_CHARS) };
  return modelActivities.callModel.executeWithOptions(options, [{ ...lean, ...reply?.regular }]);
}

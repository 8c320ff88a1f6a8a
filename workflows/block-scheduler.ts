import { ActivityFailure, isCancellation, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { blockKey, listParallelBlocks, type PlannedBlock, type PlannedStep } from '../flow/plan.ts';
import type { RanAhead } from '../flow/ran-ahead.ts';
import { isBusy } from '../flow/run.ts';
import { isPause, type Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { blockActivities, waitingBlockActivities } from './activities.ts';
import { createBlocksAhead } from './blocks-ahead.ts';
import { isParked, type Parking } from './parking.ts';
import { runModelCall, type ScheduledBlock } from './run-model-call.ts';
import { tellWaiting } from './tell-waiting.ts';

/** Block executions shown in the workflow's current details; older ones are in the history. */
const SHOWN_MAX = 50;

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
 * Creates the function that schedules the blocks of one call as activities, under their names, and shows their states in the
 * workflow's current details. It rejects with BlockFailure.
 */
export function createBlockScheduler({
  callId,
  steps,
  parking,
  lastBlock,
}: {
  callId: string;
  steps: PlannedStep[];
  parking: Parking;
  lastBlock: PlannedBlock | undefined;
}) {
  const parallel = new Set(listParallelBlocks(steps));
  const ahead = createBlocksAhead(steps, lastBlock);
  const lines = new Map<string, string>();

  function show(key: string, text: string): void {
    lines.set(key, text);
    if (lines.size > SHOWN_MAX) lines.delete(lines.keys().next().value as string);
    setCurrentDetails([...lines.values()].map((line) => `- ${line}`).join('\n'));
  }

  /** Runs a block, again after each time it was parked and unparked. */
  async function runUntilUnparked(block: PlannedBlock, scheduled: ScheduledBlock): Promise<Value | Pause> {
    for (let { begun } = scheduled; ; begun = undefined)
      try {
        return ahead.unpack(await runActivity(block, { ...scheduled, begun }));
      } catch (error) {
        if (!isParked(error)) throw error;
        await parking.park(scheduled.say);
      }
  }

  function runActivity(block: PlannedBlock, scheduled: ScheduledBlock): Promise<Value | Pause | RanAhead> {
    switch (block.processor_type) {
      case 'llm':
        return runModelCall(scheduled, parking);
      case 'code':
        return runInTurn('runCode', scheduled, parking);
      case 'passthrough':
        return runInTurn('passThrough', scheduled, parking);
    }
  }

  return async function runBlock(
    block: PlannedBlock,
    input: Value,
    iterations: number[],
  ): Promise<Value | Pause> {
    const key = blockKey(block.step_id, iterations);
    const summary = iterations.length > 0 ? `${block.name} #${iterations.join('.')}` : block.name;
    const say = (state: string) => show(key, `${summary} (${block.processor_type}): ${state}`);
    say('running');
    try {
      const begun = ahead.take(key);
      const call = {
        executionId: callId,
        stepId: block.step_id,
        blockKey: key,
        input,
        ends: block === lastBlock,
      };
      const next = ahead.list(block, iterations);
      const inParallel = parallel.has(block);
      const localSummary = next.length > 0 ? `${summary} and up to ${next.length} more` : summary;
      const output =
        begun && !isBusy(begun)
          ? begun
          : await runUntilUnparked(block, { call, begun, next, inParallel, summary, localSummary, say });
      say(isPause(output) ? 'waits for the results of tool calls' : 'completed');
      return output;
    } catch (error) {
      say('failed');
      throw isCancellation(error) ? error : new BlockFailure(block, iterations, error);
    }
  };
}

/**
 * Runs a block inside the workflow task when there is room for the organization now, else on a task queue of its own, where
 * it waits for its turn and holds nothing up.
 */
async function runInTurn(
  activity: 'runCode' | 'passThrough',
  { call, begun, next, summary, localSummary, say }: ScheduledBlock,
  parking: Parking,
): Promise<Value | Pause | RanAhead> {
  const { historyLength, taskQueue } = workflowInfo();
  const reply =
    begun ??
    (await parking.whenFree(
      () =>
        blockActivities[activity].executeWithOptions({ summary: localSummary }, [
          { ...call, historyLength, next },
        ]),
      say,
    ));
  if (!isBusy(reply)) return reply;
  say('waits for its turn');
  tellWaiting(call.executionId);
  const waiting = waitingBlockActivities(taskQueue);
  return waiting[activity].executeWithOptions({ activityId: call.blockKey, summary }, [call]);
}

import { ActivityFailure, ApplicationFailure, TimeoutFailure, workflowInfo } from '@temporalio/workflow';
import type { HandedOver, Left } from '../flow/model-call.ts';
import type { RanAhead, Unfinished } from '../flow/ran-ahead.ts';
import { type BlockCall, BUSY, isBusy, type NextBlock } from '../flow/run.ts';
import type { Pause } from '../flow/tool-calls.ts';
import { compact, type Value } from '../flow/value.ts';
import { blockActivities, heldModelActivities, modelActivities } from './activities.ts';
import type { Parking } from './parking.ts';
import { tellWaiting } from './tell-waiting.ts';

/** A longer input, serialized, is loaded by the model call itself, since one workflow task may schedule hundreds. */
const MODEL_INPUT_MAX_CHARS = 8_192;

/** A block that is to run as an activity. */
export type ScheduledBlock = {
  call: BlockCall;
  /** The reply of an earlier activity that has begun it. */
  begun: Unfinished | undefined;
  /** The blocks that its own activity may run too. */
  next: NextBlock[];
  /** Whether it is in a parallel step. */
  inParallel: boolean;
  /** How operators see it, and its local activity, which may run the next blocks too. */
  summary: string;
  localSummary: string;
  say(state: string): void;
};

/**
 * Runs an llm block. Its call begins inside the workflow task, unless the block is `inParallel` to others; when it takes long,
 * an activity of the same process takes it over, and whatever else remains to be done is an activity that any worker may have.
 */
export async function runModelCall(
  { call, begun, next, inParallel, summary, localSummary, say }: ScheduledBlock,
  parking: Parking,
): Promise<Value | Pause | RanAhead> {
  const { historyLength, priority } = workflowInfo();
  // An activity that is dispatched eagerly has no priority, and so no organization's turn, but its own.
  const options = { activityId: call.blockKey, summary, ...(priority && { priority }) };
  const lean = { ...call, input: compact(call.input, MODEL_INPUT_MAX_CHARS) };
  const asActivity = (left?: Left) =>
    modelActivities.callModel.executeWithOptions(options, [{ ...lean, ...(left && { left }) }]);
  if (inParallel) {
    tellWaiting(call.executionId);
    return asActivity();
  }
  let reply =
    begun ??
    (await parking.whenFree(
      () =>
        blockActivities.callModel.executeWithOptions({ summary: localSummary }, [
          { ...call, historyLength, next },
        ]),
      say,
    ));
  if (isBusy(reply) && reply.at !== undefined) reply = await takeOver(reply.at, lean, options);
  return isBusy(reply) ? asActivity(reply.left) : reply;
}

/** Waits in the process that makes the call; one that is gone leaves the call to another. */
async function takeOver(
  taskQueue: string,
  call: BlockCall,
  options: { activityId: string; summary: string },
): Promise<Value | Pause | HandedOver> {
  try {
    return await heldModelActivities(taskQueue).callModel.executeWithOptions(options, [call]);
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : error;
    const isTimeout = cause instanceof TimeoutFailure;
    if (!isTimeout && !(cause instanceof ApplicationFailure && !cause.nonRetryable)) throw error;
    const progress = isTimeout ? (cause.lastHeartbeatDetails as { kept?: unknown } | undefined) : undefined;
    return { ...BUSY, left: { lost: true, ...(progress?.kept !== undefined && { kept: progress.kept }) } };
  }
}

import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  TimeoutFailure,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { ServiceError } from '../flow/errors.ts';
import { interpret } from '../flow/interpreter.ts';
import { blockKey, type PlannedBlock } from '../flow/plan.ts';
import type { BlockCall, FailureReason, RunInput, RunOutcome } from '../flow/run.ts';
import { MESSAGE_REF, type Value } from '../flow/value.ts';
import { blockActivities, modelActivities, recordRun } from './activities.ts';

/**
 * One run of a flow: interprets its plan, one activity per block, and records the end. Answers the result as a Value;
 * a failed run ends as an ApplicationFailure whose type is the ErrorCode.
 */
export async function runFlow({ executionId, steps }: RunInput): Promise<Value> {
  const blocks = new CancellationScope();
  let outcome: RunOutcome;
  try {
    const result = await blocks.run(() =>
      interpret(
        steps,
        { ref: MESSAGE_REF },
        {
          runBlock: (block, input, iterations) => runBlock(executionId, block, input, iterations),
          inspect: (value) => blockActivities.inspectValue(executionId, value),
          holds: (condition, value) => blockActivities.checkCondition(executionId, condition, value),
        },
      ),
    );
    outcome = { status: 'completed', result };
  } catch (error) {
    // Branches of a parallel step that are still running stop spending.
    blocks.cancel();
    outcome = { status: 'failed', error: describe(error) };
  }
  const end = outcome;
  return CancellationScope.nonCancellable(async () => {
    upsertSearchAttributes([{ key: { name: 'WeirOutcome', type: 'KEYWORD' }, value: end.status }]);
    await recordRun(executionId, end);
    if (end.status === 'completed') return end.result;
    throw ApplicationFailure.nonRetryable(end.error.message, end.error.code, end.error);
  });
}

async function runBlock(
  executionId: string,
  block: PlannedBlock,
  input: Value,
  iterations: number[],
): Promise<Value> {
  const key = blockKey(block.step_id, iterations);
  const call: BlockCall = { executionId, stepId: block.step_id, blockKey: key, input };
  const summary = iterations.length > 0 ? `${block.name} #${iterations.join('.')}` : block.name;
  try {
    switch (block.processor_type) {
      case 'llm':
        return await modelActivities.callModel.executeWithOptions({ activityId: key, summary }, [call]);
      case 'code':
        return await blockActivities.runCode.executeWithOptions({ summary }, [call]);
      case 'passthrough':
        return await blockActivities.passThrough.executeWithOptions({ summary }, [call]);
    }
  } catch (error) {
    throw isCancellation(error) ? error : new BlockFailure(block, error);
  }
}

/** A block that failed for good. */
class BlockFailure extends Error {
  readonly block: PlannedBlock;
  constructor(block: PlannedBlock, error: unknown) {
    // A local activity fails as the failure itself, a regular one as an ActivityFailure around it.
    super(`Block ${block.name} failed`, { cause: error instanceof ActivityFailure ? error.cause : error });
    this.block = block;
  }
}

const REASONS: { [code: string]: FailureReason } = {
  INSUFFICIENT_CREDITS: 'credits_exhausted',
};

function describe(error: unknown): (RunOutcome & { status: 'failed' })['error'] {
  if (error instanceof BlockFailure) {
    const { code, message } = describeCause(error.cause);
    return {
      code,
      message: `Block "${error.block.name}" (${error.block.step_id}): ${message}`,
      reason: REASONS[code] ?? 'error',
      step_id: error.block.step_id,
    };
  }
  return { ...describeCause(error), reason: 'error' };
}

function describeCause(cause: unknown): { code: string; message: string } {
  if (cause instanceof ServiceError) return { code: cause.code, message: cause.message };
  if (cause instanceof ApplicationFailure && cause.type) return { code: cause.type, message: cause.message };
  if (cause instanceof TimeoutFailure)
    return { code: 'INTERNAL_ERROR', message: 'it took too long, or its worker was lost, at every attempt.' };
  if (isCancellation(cause)) return { code: 'CANCELLED', message: 'The run was cancelled.' };
  return { code: 'INTERNAL_ERROR', message: 'The run failed for a reason inside the service.' };
}

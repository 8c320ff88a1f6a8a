import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  TimeoutFailure,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { ServiceError, soundMessage } from '../flow/errors.ts';
import { interpret } from '../flow/interpreter.ts';
import { CANCELLED, type FailureReason, type RunInput, type RunOutcome } from '../flow/run.ts';
import { MESSAGE_REF, type Value } from '../flow/value.ts';
import { blockActivities, recordRun } from './activities.ts';
import { BlockFailure, createBlockRunner } from './run-block.ts';
import { startDelivery } from './start-delivery.ts';

/**
 * One run of a flow: interprets its plan, one activity per block, and records the end. Answers the result as a Value;
 * a failed run ends as an ApplicationFailure whose type is the ErrorCode.
 */
export async function runFlow({ executionId, steps, callback }: RunInput): Promise<Value> {
  const blocks = new CancellationScope();
  const last = steps.at(-1);
  const lastBlock = last?.type === 'sequential' ? last : undefined;
  let outcome: RunOutcome;
  try {
    const result = await blocks.run(() =>
      interpret(
        steps,
        { ref: MESSAGE_REF },
        {
          runBlock: createBlockRunner(executionId, lastBlock),
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
    if (end.status === 'failed' || !lastBlock) await recordRun(executionId, end);
    if (callback) await startDelivery(executionId);
    if (end.status === 'completed') return end.result;
    throw ApplicationFailure.nonRetryable(end.error.message, end.error.code, end.error);
  });
}

const REASONS: { [code: string]: FailureReason } = {
  INSUFFICIENT_CREDITS: 'credits_exhausted',
  BYOK_REJECTED: 'byok_rejected',
};

function describe(error: unknown): (RunOutcome & { status: 'failed' })['error'] {
  if (error instanceof BlockFailure) {
    const { code, message } = describeCause(error.cause);
    if (code === CANCELLED.code) return CANCELLED;
    return {
      code,
      message: soundMessage(`Block "${error.block.name}" (${error.block.step_id}): ${message}`),
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
  if (isCancellation(cause)) return CANCELLED;
  return { code: 'INTERNAL_ERROR', message: 'The run failed for a reason inside the service.' };
}

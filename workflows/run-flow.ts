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
import { isPause, type Pause } from '../flow/tool-calls.ts';
import { MESSAGE_REF, type Value } from '../flow/value.ts';
import { blockActivities, recordRun } from './activities.ts';
import { BlockFailure, createBlockRunner } from './run-block.ts';
import { startDelivery } from './start-delivery.ts';

/**
 * One run of a flow: interprets its plan, one activity per block, and records the end. Answers the result as a Value, or
 * where the run waits for its caller's tools; a failed run ends as an ApplicationFailure whose type is the ErrorCode.
 */
export async function runFlow({
  executionId,
  steps,
  input = { ref: MESSAGE_REF },
  continues,
  callback,
}: RunInput): Promise<Value | Pause> {
  const blocks = new CancellationScope();
  const last = continues ? undefined : steps.at(-1);
  const lastBlock = last?.type === 'sequential' ? last : undefined;
  let outcome: RunOutcome;
  try {
    const reply = await blocks.run(() =>
      interpret(steps, input, {
        runBlock: createBlockRunner(executionId, lastBlock),
        inspect: (value) => blockActivities.inspectValue(executionId, value),
        holds: (condition, value) => blockActivities.checkCondition(executionId, condition, value),
      }),
    );
    outcome = isPause(reply)
      ? { status: 'tool_calls_required', pause: reply.paused }
      : { status: 'completed', result: reply };
  } catch (error) {
    // Branches of a parallel step that are still running stop spending.
    blocks.cancel();
    outcome = { status: 'failed', error: describe(error) };
  }
  let end = outcome;
  return CancellationScope.nonCancellable(async () => {
    showOutcome(end.status);
    if (end.status !== 'completed' || !lastBlock) {
      const other = await recordRun(executionId, end);
      if (other) {
        end = other;
        showOutcome(end.status);
      }
    }
    if (callback) await startDelivery(executionId);
    if (end.status === 'completed') return end.result;
    if (end.status === 'tool_calls_required') return { paused: end.pause };
    throw ApplicationFailure.nonRetryable(end.error.message, end.error.code, end.error);
  });
}

function showOutcome(status: RunOutcome['status']): void {
  upsertSearchAttributes([{ key: { name: 'WeirOutcome', type: 'KEYWORD' }, value: status }]);
}

const REASONS: { [code: string]: FailureReason } = {
  INSUFFICIENT_CREDITS: 'credits_exhausted',
  MAX_CREDITS_REACHED: 'credits_exhausted',
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

import { ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import { internalFailureText, isErrorCode, ServiceError, sanitizeMessage } from '../flow/errors.ts';
import { blockKey } from '../flow/plan.ts';
import { CANCELLED, type FailureReason, type RunError } from '../flow/run.ts';
import { BlockFailure } from './block-scheduler.ts';

const REASONS: { [code: string]: FailureReason } = {
  INSUFFICIENT_CREDITS: 'credits_exhausted',
  MAX_CREDITS_REACHED: 'credits_exhausted',
  BYOK_REJECTED: 'byok_rejected',
};

/**
 * Describes to its caller why the call `callId` failed. An error that was not made for callers stays in the log and in the
 * history; the caller gets the callId, by which it can be found there.
 */
export function describeFailure(error: unknown, callId: string): RunError {
  if (!(error instanceof BlockFailure))
    return { ...describeCause(error, 'The run', callId), reason: 'error', ...stepOf(error) };
  const { block, iterations, cause } = error;
  const { code, message } = describeCause(cause, 'it', callId);
  if (code === CANCELLED.code) return CANCELLED;
  return {
    code,
    message: sanitizeMessage(`Block "${block.name}" (${blockKey(block.step_id, iterations)}): ${message}`),
    reason: REASONS[code] ?? 'error',
    step_id: block.step_id,
    ...(iterations.length > 0 && { iterations }),
  };
}

/** Returns the step that an error of the interpreter names. */
function stepOf(error: unknown): Pick<RunError, 'step_id' | 'iterations'> {
  if (!(error instanceof ServiceError)) return {};
  const { step_id, iterations } = error.extra as Pick<RunError, 'step_id' | 'iterations'>;
  return { ...(step_id !== undefined && { step_id }), ...(iterations && { iterations }) };
}

function describeCause(cause: unknown, subject: string, callId: string): Pick<RunError, 'code' | 'message'> {
  if (cause instanceof ServiceError) return { code: cause.code, message: cause.message };
  if (cause instanceof ApplicationFailure && isErrorCode(cause.type))
    return { code: cause.type, message: cause.message };
  if (cause instanceof TimeoutFailure)
    return {
      code: 'INTERNAL_ERROR',
      message: `${subject} took too long, or its worker was lost, in every attempt.`,
    };
  if (isCancellation(cause)) return CANCELLED;
  return { code: 'INTERNAL_ERROR', message: `${subject} ${internalFailureText(callId)}` };
}

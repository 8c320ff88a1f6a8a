import type { RunError } from '../../../flow/run.ts';

/** Describes to callers and operators why a run failed, and where. */
export function describeRunError({ code, message, reason, step_id, iterations }: RunError) {
  return {
    code,
    ...(step_id !== undefined && { step_id }),
    ...(iterations && { iterations }),
    errorMessage: message,
    failureReason: reason,
  };
}

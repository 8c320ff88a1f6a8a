import type { RunError } from '../../../flow/run.ts';

/** Describes why and where a run failed, for callers and operators. */
export function describeRunError({ code, message, reason, step_id, iterations }: RunError) {
  return {
    code,
    ...(step_id !== undefined && { step_id }),
    ...(iterations && { iterations }),
    errorMessage: message,
    failureReason: reason,
  };
}

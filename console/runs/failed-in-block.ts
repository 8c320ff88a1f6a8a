import { findStep, type Step } from '../flow/draft/steps.ts';

type Failed = { code: string; step_id?: string | undefined };

/** Whether a run failed inside a block, as far as is known: a loop or a parallel step may fail by itself. */
export function failedInBlock({ code, step_id }: Failed, steps: Step[] | undefined): boolean {
  // A run with too many block executions fails before the block that it names.
  if (code === 'LOOP_LIMIT_EXCEEDED') return false;
  return steps !== undefined && findStep(steps, step_id)?.step.type === 'sequential';
}

/** The status of a step in a run, over all its iterations. */
export type StepStatus = {
  status: 'pending' | 'running' | 'completed' | 'failed' | 'paused' | 'cancelled';
  /** The number of executions, in loops. */
  count?: number;
  /** Duration in milliseconds. */
  ms?: number;
  /** Cost in credits. */
  cost?: number;
};

/** In the order of urgency. */
const ORDER: StepStatus['status'][] = ['failed', 'running', 'paused', 'cancelled', 'completed', 'pending'];

/** Returns the more urgent of two statuses. */
export function worseStatus(
  one: StepStatus['status'] | undefined,
  other: StepStatus['status'],
): StepStatus['status'] {
  return one && ORDER.indexOf(one) < ORDER.indexOf(other) ? one : other;
}

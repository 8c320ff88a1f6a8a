/** How a step of a run stands, over all its iterations. */
export type StepStatus = {
  status: 'pending' | 'running' | 'completed' | 'failed' | 'paused' | 'cancelled';
  /** How many times it ran, in loops. */
  count?: number;
  /** Milliseconds. */
  ms?: number;
  /** Credits. */
  cost?: number;
};

/** The status that needs attention most comes first. */
const ORDER: StepStatus['status'][] = ['failed', 'running', 'paused', 'cancelled', 'completed', 'pending'];

/** Returns the status of a step that ran several times, or of what holds steps: the one that needs attention most. */
export function worseStatus(
  one: StepStatus['status'] | undefined,
  other: StepStatus['status'],
): StepStatus['status'] {
  return one && ORDER.indexOf(one) < ORDER.indexOf(other) ? one : other;
}

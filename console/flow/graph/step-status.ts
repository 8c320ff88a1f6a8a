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

// Settings of the worker for its workflows, which cannot read its configuration (worker/queue-worker.ts). None of them changes the
// commands of a workflow, so a history replays under others.

export type WorkflowSettings = {
  /** Whether messages and stacks of failures are put into payloads, because those are encrypted. */
  encodesFailures: boolean;
  /** Time without a heartbeat after which the engine takes a model call for lost, in milliseconds. */
  heartbeatTimeoutMs: number;
};

declare global {
  /** Set in the first line of the workflow code. */
  var weirSettings: WorkflowSettings | undefined;
}

export const settings: WorkflowSettings = globalThis.weirSettings ?? {
  encodesFailures: false,
  heartbeatTimeoutMs: 75_000,
};

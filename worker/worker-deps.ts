import type { WorkflowBundleOption } from '@temporalio/worker';
import type { Cancellations } from '../activities/cancellations.ts';
import type { WebhookListeners } from '../activities/deliveries/webhook-listeners.ts';
import type { InProcessRuns } from '../activities/in-process-runs.ts';
import type { FairQueue } from '../platform/limits/fair-queue.ts';
import type { ActivityGates } from '../platform/limits/gates.ts';
import type { Dependencies } from './open-dependencies.ts';

/** The dependencies of a process's worker. Whoever opens them closes them. */
export type WorkerDeps = Omit<Dependencies, 'close'> & {
  workflowBundle: WorkflowBundleOption;
  /** Shared with the API where that runs in this process too. */
  inProcessRuns: InProcessRuns;
  /** Present where the API runs in this process too. */
  runStarts?: FairQueue;
  /** Present where the API runs in this process too, and is local. */
  listeners?: WebhookListeners | undefined;
  /** Whether this process has metrics. */
  measures?: boolean;
  cancellations: Cancellations;
  /** For tests: the gates of activities. */
  gates?: ActivityGates | undefined;
  /** For tests: false where the schedules of maintenance are not to be created. */
  schedules?: boolean | undefined;
  /** For tests: calls of a model that takes less time on average, in milliseconds, are local activities. */
  fastModelMs?: number | undefined;
};

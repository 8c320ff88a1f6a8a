import type { WorkflowBundleOption } from '@temporalio/worker';
import type { WebhookListeners } from '../activities/deliveries/webhook-listeners.ts';
import type { InTaskTimes } from '../activities/held-model-calls.ts';
import type { InProcessRuns } from '../activities/in-process-runs.ts';
import type { EnterPlace } from '../platform/limits/place.ts';
import type { Dependencies } from './open-dependencies.ts';

/** The dependencies of a process's worker. Whoever opens them closes them. */
export type WorkerDeps = Omit<Dependencies, 'close'> & {
  workflowBundle: WorkflowBundleOption;
  /** These two are present where the API runs in this process too. */
  inProcessRuns?: InProcessRuns;
  enterPlace?: EnterPlace;
  /** Present where the API runs in this process too, and is local. */
  listeners?: WebhookListeners | undefined;
  /** Whether this process has metrics. */
  measures?: boolean;
  /** For tests: how long model calls may be inside workflow tasks. */
  inTaskTimes?: InTaskTimes | undefined;
};

// Temporal's timeouts and retry policies of every activity, on one screen. Two limits are elsewhere: how often a provider is
// asked (activities/is-given-up.ts), and the delays between the attempts of a delivery (flow/delivery.ts).
// This is the one file of workflows/ that knows activities/, as types.
import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/deliveries/webhook-activities.ts';
import type { Activities } from '../activities/index.ts';
import type { MaintenanceActivities } from '../activities/maintenance/maintenance-activities.ts';
import { ATTEMPTS_MAX, RETRY_BACKOFF, RETRY_DELAY_MAX_MS, RETRY_DELAYS_MS } from '../flow/delivery.ts';
import { ATTEMPTS_OF_A_DAY, RETRY_MAX_MS, RETRY_MIN_MS } from '../flow/limits.ts';
import { maintenanceTaskQueue } from '../flow/maintenance.ts';
import type { ModelBlockCall } from '../flow/model-call.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { settings } from './settings.ts';

/**
 * Activities that are rescheduled while their organization has too many in flight (activities/attempts/reschedule.ts) may be so
 * for a day at least, mostly for weeks. Their other attempts are counted where they are made (activities/attempts/run-attempt.ts),
 * up to those of a day.
 */
const ATTEMPTS_MAX_RESCHEDULED = 100_000;

const RETRY = { initialInterval: RETRY_MIN_MS, backoffCoefficient: 2, maximumInterval: RETRY_MAX_MS };

/**
 * Model calls that may take long: visible, and repeated elsewhere when their worker is lost, which the engine notices by missing
 * heartbeats. One attempt makes a few requests, each of an hour at most, and keeps their answers until they are recorded. The
 * activity itself counts refusals by the provider, and its failure says when the next attempt is due, or that there is none.
 */
export const modelActivities = proxyActivities<{ callModel(call: ModelBlockCall): Promise<Value | Pause> }>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: settings.heartbeatTimeoutMs,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: ATTEMPTS_MAX_RESCHEDULED,
  },
});

/** A local activity with a longer delay before its next attempt ends its workflow task, and the workflow waits on a timer. */
const LOCAL_WAIT_MAX_MS = 1_000;

const LOCAL = {
  localRetryThreshold: LOCAL_WAIT_MAX_MS,
  retry: { ...RETRY, maximumAttempts: ATTEMPTS_MAX_RESCHEDULED },
};

/** Calls of fast models. One that turns slow goes on to its end. */
export const fastModelActivities = proxyLocalActivities<Pick<Activities, 'callModel'>>({
  ...LOCAL,
  startToCloseTimeout: '1 day',
});

/** Blocks that finish in milliseconds, and questions of loops about large values. */
export const blockActivities = proxyLocalActivities<
  Pick<Activities, 'runCode' | 'passThrough' | 'inspectValue' | 'checkCondition'>
>({ ...LOCAL, startToCloseTimeout: '2 minutes' });

/**
 * Steps around the runs of test cases. They are regular activities because several are under way at a time, and a history
 * does not always tell in which order local activities were resolved. A lost worker is noticed by its missing heartbeats,
 * sooner than by the timeout.
 */
export const { acceptTest, evaluateTest, readJudgement } = proxyActivities<
  Pick<Activities, 'acceptTest' | 'evaluateTest' | 'readJudgement'>
>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '25 seconds',
  retry: {
    ...RETRY,
    maximumAttempts: ATTEMPTS_MAX_RESCHEDULED,
  },
});

/** Records of the end of a run or test run: repeated however long the database is away. */
export const { recordRun, findRunDelivery, finishTestRun } = proxyLocalActivities<
  Pick<Activities, 'recordRun' | 'findRunDelivery' | 'finishTestRun'>
>({
  startToCloseTimeout: '1 minute',
  localRetryThreshold: LOCAL_WAIT_MAX_MS,
  retry: {
    ...RETRY,
    maximumAttempts: ATTEMPTS_OF_A_DAY,
  },
});

/**
 * Proxies the attempts of a delivery after `made` earlier ones. A failed attempt says itself when the next one is due; the
 * intervals here are about the same and serve an attempt whose worker was lost.
 */
export function deliveryActivities(made: number) {
  return proxyActivities<Pick<WebhookActivities, 'attemptDelivery'>>({
    // The attempt keeps the receiver's answer until it is recorded.
    startToCloseTimeout: '1 day',
    heartbeatTimeout: '15 seconds',
    retry: {
      initialInterval: RETRY_DELAYS_MS[made] ?? RETRY_DELAYS_MS[0],
      backoffCoefficient: RETRY_BACKOFF,
      maximumInterval: RETRY_DELAY_MAX_MS,
      maximumAttempts: ATTEMPTS_MAX - made,
    },
  });
}

/** The end of a delivery is recorded however long the database is away. */
export const { abandonDelivery } = proxyActivities<Pick<WebhookActivities, 'abandonDelivery'>>({
  startToCloseTimeout: '1 minute',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: ATTEMPTS_OF_A_DAY,
  },
});

/**
 * Scheduled jobs, which work in batches until nothing is left: the first deletion of old runs may take hours. One that fails is
 * repeated, less and less often, and its schedule starts no other meanwhile.
 */
export function maintenanceActivities() {
  return proxyActivities<MaintenanceActivities>({
    taskQueue: maintenanceTaskQueue(workflowInfo().taskQueue),
    startToCloseTimeout: '1 day',
    heartbeatTimeout: '1 minute',
    retry: { initialInterval: '10 seconds', backoffCoefficient: 2, maximumInterval: '10 minutes' },
  });
}

// Every timeout and retry policy of a run, on one screen.
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WebhookActivities } from '../activities/webhook-activities.ts';
import type { LoopCondition } from '../flow/definition.ts';
import { ATTEMPTS_MAX, RETRY_DELAYS_MS } from '../flow/delivery.ts';
import { type BlockCall, blockTaskQueue } from '../flow/run.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';

/** With a minute between two attempts, about a day: what fails for reasons of the service's own is repeated for that long. */
const ATTEMPTS_OF_A_DAY = 1_500;

/**
 * Model calls: regular activities, so that a slow or failing one is visible and outlives its worker. One attempt makes
 * at most two requests of 120 s; its answer stays with it until it is recorded. What a provider refuses is counted by the
 * activity, which says then when the next attempt is due, or that there is none.
 */
export const modelActivities = proxyActivities<{ callModel(call: BlockCall): Promise<Value | Pause> }>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: ATTEMPTS_OF_A_DAY,
  },
});

/** A local activity that waits longer for its next attempt does so without its workflow task. */
const LOCAL_WAIT_MAX = '5 seconds';

/** Blocks that finish in milliseconds, and what a loop asks of large values: run inside the workflow task. */
export const blockActivities = proxyLocalActivities<
  Pick<Activities, 'runCode' | 'passThrough' | 'inspectValue' | 'checkCondition'>
>({
  startToCloseTimeout: '2 minutes',
  localRetryThreshold: LOCAL_WAIT_MAX,
  retry: {
    initialInterval: '200 ms',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: ATTEMPTS_OF_A_DAY,
  },
});

/**
 * The same where something else of the organization has to end first: no regular activity is ever BUSY. Waiting counts as well, so there is no time to keep
 * but that of a day; a lost worker is found out by its heartbeats.
 */
export function waitingBlockActivities(taskQueue: string) {
  return proxyActivities<{
    runCode(call: BlockCall): Promise<Value | Pause>;
    passThrough(call: BlockCall): Promise<Value | Pause>;
    inspectValue(executionId: string, value: Value): Promise<{ items: number | undefined }>;
    checkCondition(executionId: string, condition: LoopCondition, value: Value): Promise<boolean>;
  }>({
    taskQueue: blockTaskQueue(taskQueue),
    startToCloseTimeout: '1 day',
    heartbeatTimeout: '25 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: {
      initialInterval: '200 ms',
      backoffCoefficient: 2,
      maximumInterval: '1 minute',
      maximumAttempts: ATTEMPTS_OF_A_DAY,
    },
  });
}

/**
 * What happens around the runs of test cases. Regular activities, for several are under way at a time: in which order
 * local ones were resolved is not always told by a history.
 */
export const { acceptTest, evaluateTest, readJudgement } = proxyActivities<
  Pick<Activities, 'acceptTest' | 'evaluateTest' | 'readJudgement'>
>({
  startToCloseTimeout: '1 minute',
  retry: {
    initialInterval: '200 ms',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: ATTEMPTS_OF_A_DAY,
  },
});

/** The end of a run, or of a test run, is recorded however long the database is away; so is that a run is parked. */
export const { recordRun, findRunDelivery, finishTestRun, parkRun, unparkRun } = proxyLocalActivities<
  Pick<Activities, 'recordRun' | 'findRunDelivery' | 'finishTestRun' | 'parkRun' | 'unparkRun'>
>({
  startToCloseTimeout: '1 minute',
  localRetryThreshold: LOCAL_WAIT_MAX,
  retry: {
    initialInterval: '200 ms',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: ATTEMPTS_OF_A_DAY,
  },
});

/**
 * The attempts of a delivery, after `made` earlier ones. A failed one says itself when the next is due; the intervals
 * here, about the same, are for one whose worker was lost.
 */
export function deliveryActivities(made: number) {
  return proxyActivities<Pick<WebhookActivities, 'attemptDelivery'>>({
    // How the receiver answered stays with the attempt until it is recorded.
    startToCloseTimeout: '1 day',
    heartbeatTimeout: '15 seconds',
    retry: {
      initialInterval: RETRY_DELAYS_MS[made] ?? RETRY_DELAYS_MS[0],
      backoffCoefficient: 5.18,
      maximumInterval: '12 hours',
      maximumAttempts: ATTEMPTS_MAX - made,
    },
  });
}

/** What became of a delivery is recorded however long the database is away. */
export const { abandonDelivery } = proxyActivities<Pick<WebhookActivities, 'abandonDelivery'>>({
  startToCloseTimeout: '1 minute',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: ATTEMPTS_OF_A_DAY,
  },
});

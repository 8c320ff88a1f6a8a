// Every timeout and retry policy of a run, on one screen.
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

/**
 * Model calls: regular activities, so that a slow or failing one is visible and outlives its worker. One attempt makes
 * at most two requests of 120 s. Refusals and bad input are not retried; the delay after a 429 or 5xx is the provider's.
 */
export const modelActivities = proxyActivities<Pick<Activities, 'callModel'>>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: 8,
  },
});

/** Blocks that finish in milliseconds, what a loop asks of large values, tests: run inside the workflow task. */
export const blockActivities = proxyLocalActivities<
  Pick<
    Activities,
    'runCode' | 'passThrough' | 'inspectValue' | 'checkCondition' | 'evaluateTest' | 'readJudgement'
  >
>({
  startToCloseTimeout: '2 minutes',
  retry: {
    initialInterval: '200 ms',
    backoffCoefficient: 2,
    maximumInterval: '30 seconds',
    maximumAttempts: 20,
  },
});

/** That a run begins or ends is recorded however long the database is away: up to about a day. */
export const { recordRun, acceptTest, finishTestRun } = proxyLocalActivities<
  Pick<Activities, 'recordRun' | 'acceptTest' | 'finishTestRun'>
>({
  startToCloseTimeout: '1 minute',
  retry: {
    initialInterval: '200 ms',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: 1500,
  },
});

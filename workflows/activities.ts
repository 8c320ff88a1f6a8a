// Temporal's timeouts and retry policies of every activity, on one screen. Two limits are elsewhere: how often a provider is
// asked (activities/is-given-up.ts), and the delays between the attempts of a delivery (flow/delivery.ts).
// This is the one file of workflows/ that knows activities/, as types.
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/deliveries/webhook-activities.ts';
import type { Activities } from '../activities/index.ts';
import type { LoopCondition } from '../flow/definition.ts';
import { ATTEMPTS_MAX, RETRY_BACKOFF, RETRY_DELAY_MAX_MS, RETRY_DELAYS_MS } from '../flow/delivery.ts';
import { ATTEMPTS_OF_A_DAY, RETRY_MAX_MS, RETRY_MIN_MS } from '../flow/limits.ts';
import { type HandedOver, type ModelBlockCall, TAKE_OVER_MAX_MS } from '../flow/model-call.ts';
import { type BlockCall, blockTaskQueue } from '../flow/run.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';

/**
 * Activities that may find no slot in a worker (activities/attempts/in-slot.ts) may be turned away for a day at least, mostly
 * for weeks. Their other attempts are counted where they are made (activities/attempts/run-attempt.ts), up to those of a day.
 */
const ATTEMPTS_MAX_WITH_SLOTS = 100_000;

const RETRY = { initialInterval: RETRY_MIN_MS, backoffCoefficient: 2, maximumInterval: RETRY_MAX_MS };

/**
 * Model calls that are slow or have to be repeated, and those inside parallel steps, where a call inside the workflow task would
 * hold up what other branches begin. They are visible and outlive their worker. One attempt makes at most two requests, each of
 * an hour at most, and keeps its answer until that is recorded. The activity itself counts refusals by the provider, and its
 * failure says when the next attempt is due, or that there is none.
 */
export const modelActivities = proxyActivities<{ callModel(call: ModelBlockCall): Promise<Value | Pause> }>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: ATTEMPTS_MAX_WITH_SLOTS,
  },
});

/**
 * A model call that began inside a workflow task and goes on in its process, which alone polls this task queue. When the process
 * is gone, or does not take it, another makes the call anew.
 */
export function heldModelActivities(taskQueue: string) {
  return proxyActivities<{ callModel(call: BlockCall): Promise<Value | Pause | HandedOver> }>({
    taskQueue,
    scheduleToStartTimeout: TAKE_OVER_MAX_MS,
    startToCloseTimeout: '1 day',
    heartbeatTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { maximumAttempts: 1 },
  });
}

/** A local activity with a longer delay before its next attempt gives up its workflow task for that time. */
const LOCAL_WAIT_MAX = '5 seconds';

/**
 * Blocks that finish in milliseconds, model calls as long as they are short, and questions of loops about large values: they run
 * inside the workflow task.
 */
export const blockActivities = proxyLocalActivities<
  Pick<Activities, 'callModel' | 'runCode' | 'passThrough' | 'inspectValue' | 'checkCondition'>
>({
  startToCloseTimeout: '2 minutes',
  localRetryThreshold: LOCAL_WAIT_MAX,
  retry: {
    ...RETRY,
    maximumAttempts: ATTEMPTS_OF_A_DAY,
  },
});

/**
 * The same activities when they have to wait for the organization's turn, as regular ones, which never return BUSY. The wait
 * counts towards the timeout, hence a day; a lost worker is noticed by its missing heartbeats.
 */
export function waitingBlockActivities(taskQueue: string) {
  return proxyActivities<{
    runCode(call: BlockCall): Promise<Value | Pause>;
    passThrough(call: BlockCall): Promise<Value | Pause>;
    inspectValue(callId: string, value: Value): Promise<{ items: number | undefined }>;
    checkCondition(callId: string, condition: LoopCondition, value: Value): Promise<boolean>;
  }>({
    taskQueue: blockTaskQueue(taskQueue),
    startToCloseTimeout: '1 day',
    heartbeatTimeout: '25 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: {
      ...RETRY,
      maximumAttempts: ATTEMPTS_MAX_WITH_SLOTS,
    },
  });
}

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
    maximumAttempts: ATTEMPTS_MAX_WITH_SLOTS,
  },
});

/** Records of the end of a run or test run, and of parking: repeated however long the database is away. */
export const { recordRun, findRunDelivery, finishTestRun, parkRun, unparkRun } = proxyLocalActivities<
  Pick<Activities, 'recordRun' | 'findRunDelivery' | 'finishTestRun' | 'parkRun' | 'unparkRun'>
>({
  startToCloseTimeout: '1 minute',
  localRetryThreshold: LOCAL_WAIT_MAX,
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

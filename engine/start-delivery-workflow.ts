import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Db } from '../db/connect.ts';
import {
  type GivenTurn,
  giveTurns,
  ORGANIZATION_MAX,
  PAIR_MAX,
  takeTurn,
} from '../db/webhooks/webhook-turns.ts';
import {
  DELIVER_WEBHOOK,
  type DeliveryCall,
  deliveryWorkflowId,
  describeDelivery,
  fairShareOfDelivery,
  TURN_GIVEN,
  webhookTaskQueue,
} from '../flow/delivery.ts';
import type { EngineDeps } from './deps.ts';
import { describeEngineError } from './describe-engine-error.ts';
import { START_TIMEOUT_MS } from './start-run.ts';

/** `taskQueue` is that of runs. */
export type Engine = { client: Client; taskQueue: string };

/**
 * Starts the workflow of a recorded delivery when it is its turn at its destination, unless that round of it was started
 * already. One that has to wait is started by whoever leaves it the turn.
 */
export async function startDeliveryWorkflow(deps: Engine & { db: Db }, call: DeliveryCall): Promise<void> {
  if (await takeTurn(deps.db, call, false)) await startWorkflow(deps, call);
}

/** The same for a request that has its answer in any case: a delivery that can't be started now is the reconciler's. */
export async function tryStartDelivery(
  { db, client, config }: EngineDeps,
  call: DeliveryCall,
): Promise<void> {
  await startDeliveryWorkflow({ db, client, taskQueue: config.taskQueue }, call).catch((error: unknown) =>
    console.error(`Delivery ${call.deliveryId} could not be started yet: ${describeEngineError(error)}`),
  );
}

/** Begins what can begin of deliveries that wait; each one that ends begins the next. */
export async function startWaitingDeliveries(
  { db, client, config }: EngineDeps,
  calls: DeliveryCall[],
): Promise<void> {
  const afterOf = new Map(calls.map(({ host, organizationId }) => [host, organizationId]));
  let left = ORGANIZATION_MAX;
  try {
    for (const [host, after] of [...afterOf].slice(0, ORGANIZATION_MAX)) {
      const turns = await giveTurns(db, { host, after, atMost: Math.min(left, PAIR_MAX) });
      await Promise.all(turns.map((turn) => beginTurn({ client, taskQueue: config.taskQueue }, turn)));
      left -= turns.length;
      if (left <= 0) return;
    }
  } catch (error) {
    console.error(`Deliveries that wait could not be started yet: ${describeEngineError(error)}`);
  }
}

/** Tells the workflow of a delivery that was given its turn, or starts it. What fails is found by the reconciler. */
export async function beginTurn(engine: Engine, { call, hasWorkflow, isOpen }: GivenTurn): Promise<void> {
  try {
    const isTold = hasWorkflow && (await signalDelivery(engine.client, call));
    if (isOpen && !isTold) await startWorkflow(engine, call);
  } catch (error) {
    console.error(`Delivery ${call.deliveryId} could not be told of its turn: ${describeEngineError(error)}`);
  }
}

/** Has the workflow of a delivery look whether it is its turn; false when it has none that is running. */
export async function signalDelivery(client: Client, call: DeliveryCall): Promise<boolean> {
  try {
    await inTime(client, () => client.workflow.getHandle(deliveryWorkflowId(call)).signal(TURN_GIVEN));
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

async function startWorkflow({ client, taskQueue }: Engine, call: DeliveryCall): Promise<void> {
  try {
    await inTime(client, () =>
      client.workflow.start(DELIVER_WEBHOOK, {
        workflowId: deliveryWorkflowId(call),
        taskQueue: webhookTaskQueue(taskQueue),
        args: [call],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        staticSummary: describeDelivery(call),
        priority: fairShareOfDelivery(call),
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

function inTime<T>(client: Client, ask: () => Promise<T>): Promise<T> {
  return client.withDeadline(Date.now() + START_TIMEOUT_MS, ask);
}

import { Connection } from '@temporalio/client';
import { webhookTaskQueue } from '../../flow/delivery.ts';
import { blockTaskQueue } from '../../flow/run.ts';
import { type Config, DEFAULT_ADDRESS } from '../../platform/config/config.ts';
import { describeNothing } from '../../temporal/describe-nothing.ts';
import { grpcCodeOf, UNANSWERED } from '../../temporal/grpc-code.ts';
import { ACTIVITY_TASKS, listPollers, WORKFLOW_TASKS } from '../../temporal/list-pollers.ts';
import { describeAttributes } from './describe-attributes.ts';
import { describePollers, type PolledQueue } from './describe-pollers.ts';
import { describe, failure, ok, type Result, warning } from './finding.ts';

/** For all that the server is asked: a check may take 8 s. */
const TIMEOUT_MS = 6_000;
const DAY_SECONDS = 86_400;

/** Looks whether Temporal, the namespace and workers are there, and whether the namespace has what Weir searches by. */
export async function checkEngine(
  { temporal, taskQueue }: Pick<Config, 'temporal' | 'taskQueue'>,
  timeoutMs = TIMEOUT_MS,
): Promise<Result[]> {
  const address = temporal.connectionOptions.address ?? DEFAULT_ADDRESS;
  const { namespace } = temporal;
  const connection = Connection.lazy({ ...temporal.connectionOptions, connectTimeout: timeoutMs });
  const deadline = Date.now() + timeoutMs;
  const ask = <T>(question: () => Promise<T>) => connection.withDeadline(deadline, question);
  try {
    await ask(() => connection.ensureConnected());
  } catch (error) {
    const mend = 'Start it, or correct TEMPORAL_ADDRESS and the other TEMPORAL_ variables.';
    return [failure(`Temporal at ${address} does not answer: ${describe(error)}.`, mend)];
  }
  try {
    const { serverVersion } = await ask(() => connection.workflowService.getSystemInfo({}));
    const described = await ask(() => connection.workflowService.describeNamespace({ namespace })).catch(
      (error: unknown) => describe(requireRefusal(error)),
    );
    if (typeof described === 'string')
      return [
        failure(
          `The namespace ${namespace} cannot be used: ${described}.`,
          `Create it (temporal operator namespace create --namespace ${namespace}), or correct TEMPORAL_NAMESPACE.`,
        ),
      ];
    const retention = Number(described.config?.workflowExecutionRetentionTtl?.seconds ?? 0);
    const attributes = await ask(() => connection.operatorService.listSearchAttributes({ namespace }))
      .then(({ customAttributes, systemAttributes }) =>
        Object.keys({ ...customAttributes, ...systemAttributes }),
      )
      .catch((error: unknown) => void requireRefusal(error));
    const polled = await Promise.all(
      queuesOf(taskQueue).map(async (queue) =>
        describePollers(
          queue,
          await ask(() => listPollers(connection.workflowService, { namespace, ...queue })),
        ),
      ),
    );
    const unserved = await ask(() => describeNothing(connection.workflowService, namespace)).then(
      () => undefined,
      (error: unknown) => describe(error),
    );
    return [
      ok(
        `Temporal ${serverVersion} at ${address}, namespace ${namespace}, which keeps histories for ${describeDays(retention)}.`,
      ),
      ...(retention > 0 && retention < DAY_SECONDS
        ? [
            warning(
              `The namespace keeps histories for ${Math.round(retention / 3_600)} hours only.`,
              'Raise its retention: operators look at failed runs in the Temporal Web UI.',
            ),
          ]
        : []),
      ...(unserved
        ? [
            failure(
              `Temporal answers, but serves no workflow: ${unserved}.`,
              'No run starts or goes on meanwhile. Its store may be full or away: look at the log of the Temporal server.',
            ),
          ]
        : []),
      ...describeAttributes(attributes),
      ...polled,
    ];
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    const mend =
      'It may be restarting: repeat weir doctor in a minute. If it stays so, look at the log of the Temporal server, or correct TEMPORAL_ADDRESS.';
    return [failure(`The Temporal server at ${address} did not answer: ${describe(error)}.`, mend)];
  } finally {
    connection.close().catch(() => undefined);
  }
}

const isUnanswered = (error: unknown) => UNANSWERED.includes(grpcCodeOf(error));

/** Returns the error with which the server refused something; throws that of a server that did not answer. */
function requireRefusal(error: unknown): unknown {
  if (isUnanswered(error)) throw error;
  return error;
}

type TypedQueue = PolledQueue & { type: typeof WORKFLOW_TASKS | typeof ACTIVITY_TASKS };

function queuesOf(taskQueue: string): TypedQueue[] {
  const webhooks = webhookTaskQueue(taskQueue);
  return [
    { name: taskQueue, role: 'flows', work: 'runs', type: WORKFLOW_TASKS },
    // Blocks have no workflow tasks.
    { name: blockTaskQueue(taskQueue), role: 'flows', work: 'blocks', type: ACTIVITY_TASKS },
    { name: webhooks, role: 'webhooks', work: 'webhook deliveries', type: WORKFLOW_TASKS },
  ];
}

function describeDays(seconds: number): string {
  const days = Math.round(seconds / DAY_SECONDS);
  return days === 1 ? '1 day' : `${days} days`;
}

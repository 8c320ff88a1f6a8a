import { Connection } from '@temporalio/client';
import { webhookTaskQueue } from '../../flow/delivery.ts';
import { SEARCH_ATTRIBUTES } from '../../flow/run.ts';
import { type Config, DEFAULT_ADDRESS } from '../../platform/config/config.ts';
import { describeNothing, grpcCodeOf, UNANSWERED } from '../../temporal/engine-errors.ts';
import {
  type ACTIVITY_TASKS,
  isSeen,
  listPollers,
  listUnserved,
  type Polled,
  WORKFLOW_TASKS,
} from '../../temporal/list-pollers.ts';
import { describe, failure, ok, type Result, warning } from './finding.ts';

const LISTED_MAX = 5;

/** A task queue: the role of its workers (WEIR_WORKER_ROLES), and what waits on it when there are none. */
type PolledQueue = { name: string; role: 'flows' | 'webhooks'; work: string };

/** The server's own, by which workers find workflows whose task fails or loses its worker. */
const REPORTED_PROBLEMS = 'TemporalReportedProblems';

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
              'No run can start or continue. The store of Temporal may be full or away: read the log of the Temporal server.',
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
    { name: webhooks, role: 'webhooks', work: 'webhook deliveries', type: WORKFLOW_TASKS },
  ];
}

function describeDays(seconds: number): string {
  const days = Math.round(seconds / DAY_SECONDS);
  return days === 1 ? '1 day' : `${days} days`;
}

/** Describes the search attributes missing in the namespace. `undefined`: the attributes could not be listed. */
export function describeAttributes(names: string[] | undefined): Result[] {
  if (names === undefined)
    return [
      warning(
        'The search attributes of the namespace cannot be listed with these rights.',
        `Have its owner check that it has ${Object.keys(SEARCH_ATTRIBUTES).join(', ')}.`,
      ),
    ];
  const results: Result[] = [];
  const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !names.includes(name));
  if (missing.length > 0)
    results.push(
      failure(
        `The namespace lacks the search attributes ${missing.map(([name, type]) => `${name} (${type})`).join(', ')}.`,
        'A worker registers them when it starts; on Temporal Cloud, add them yourself.',
      ),
    );
  if (!names.includes(REPORTED_PROBLEMS))
    results.push(
      warning(
        `This server does not set ${REPORTED_PROBLEMS}: workflows whose task fails again and again are not counted and not logged, and runs that lose their workers are not counted.`,
        'Use Temporal server 1.31 or newer. Until then look in the Temporal Web UI for runs that stand still.',
      ),
    );
  return results;
}

/** Says whether workers poll a task queue, by when the engine saw each, the last first. */
export function describePollers({ name, role, work }: PolledQueue, polled: Polled): Result {
  const { pollers, chosen } = polled;
  const seen = pollers.filter(isSeen);
  const gone = pollers.length - seen.length;
  const count = `${seen.length} ${seen.length === 1 ? 'worker polls' : 'workers poll'} ${name}`;
  const unserved = listUnserved(polled);
  if (seen.length > 0 && unserved.length > 0) {
    const versions = unserved.map(({ state, version = 'workers without one' }) => `${state} (${version})`);
    return failure(
      `${count}, none of the version that is ${versions.join(' or ')}: ${unserved.length < chosen.length ? 'a share of the ' : ''}new ${work} wait.`,
      'Set the version of the running workers as current and end the ramp, or start workers of the version named: docs/operating/worker-versions.md.',
    );
  }
  if (seen.length === 0)
    return failure(
      `No worker polls ${name}: ${work} wait.${gone > 0 ? ` The last one was seen ${pollers[0]?.secondsAgo} s ago.` : ''}`,
      `Start a worker (npm run worker) whose WEIR_WORKER_ROLES has ${role} or is not set, with this WEIR_TASK_QUEUE and namespace. If one runs, look at its log.`,
    );
  const listed = seen.slice(0, LISTED_MAX).map(({ secondsAgo }) => `${secondsAgo} s`);
  const further = seen.length > LISTED_MAX ? ' and more' : '';
  return ok(
    `${count}, last seen ${listed.join(', ')}${further} ago.` +
      (gone > 0
        ? ` ${gone} more ${gone === 1 ? 'was' : 'were'} last seen ${pollers.at(seen.length)?.secondsAgo} s ago or longer.`
        : ''),
  );
}

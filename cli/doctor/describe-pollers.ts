import { failure, ok, type Result } from './finding.ts';

/** A worker with room asks for tasks at least once a minute. */
const POLLED_WITHIN_SECONDS = 90;
const LISTED_MAX = 5;

/** A task queue: the role of its workers (WEIR_WORKER_ROLES), and what waits on it when there are none. */
export type PolledQueue = { name: string; role: 'flows' | 'webhooks'; work: string };

/**
 * Says whether workers poll a task queue, by how many seconds ago the engine saw each, the last first. The engine keeps a killed
 * worker in mind for five minutes.
 */
export function describePollers({ name, role, work }: PolledQueue, secondsAgo: number[]): Result {
  const seen = secondsAgo.filter((seconds) => seconds <= POLLED_WITHIN_SECONDS);
  const gone = secondsAgo.length - seen.length;
  if (seen.length === 0)
    return failure(
      `No worker polls ${name}: ${work} wait.${gone > 0 ? ` The last one was seen ${secondsAgo[0]} s ago.` : ''}`,
      `Start a worker (npm run worker) whose WEIR_WORKER_ROLES has ${role} or is not set, with this WEIR_TASK_QUEUE and namespace. If one runs, look at its log.`,
    );
  const listed = seen.slice(0, LISTED_MAX).map((seconds) => `${seconds} s`);
  const further = seen.length > LISTED_MAX ? ' and more' : '';
  return ok(
    `${seen.length} ${seen.length === 1 ? 'worker polls' : 'workers poll'} ${name}, last seen ${listed.join(', ')}${further} ago.` +
      (gone > 0
        ? ` ${gone} more ${gone === 1 ? 'was' : 'were'} last seen ${secondsAgo.at(seen.length)} s ago or longer.`
        : ''),
  );
}

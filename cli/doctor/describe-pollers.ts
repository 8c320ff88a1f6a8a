import { isSeen, listUnserved, type Polled } from '../../temporal/list-pollers.ts';
import { failure, ok, type Result } from './finding.ts';

const LISTED_MAX = 5;

/** A task queue: the role of its workers (WEIR_WORKER_ROLES), and what waits on it when there are none. */
export type PolledQueue = { name: string; role: 'flows' | 'webhooks'; work: string };

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

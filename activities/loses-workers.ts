import { LRUCache } from 'lru-cache';

/** More calls than lose their workers at a time. */
const LOSING_MAX = 1_000;

/**
 * Creates the function that tells whether the workflow task of a call was lost with its workers again and again. A call that is
 * `known` has not been lost under this process, so the engine is not asked; one that was found to be losing is so for all of
 * that task, whatever the process has learned of it since.
 */
export function createLosesWorkers(
  isKnown: (callId: string) => boolean,
  hasLost: (historyLength: number) => Promise<boolean>,
): (callId: string, historyLength: number) => Promise<boolean> {
  const losing = new LRUCache<string, number>({ max: LOSING_MAX });
  return async function losesWorkers(callId, historyLength) {
    if (losing.get(callId) === historyLength) return true;
    if (isKnown(callId) || !(await hasLost(historyLength))) return false;
    losing.set(callId, historyLength);
    return true;
  };
}

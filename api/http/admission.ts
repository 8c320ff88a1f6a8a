// Admission of requests that begin a run: in turns between organizations, and refused before anything is stored.
import { availableParallelism } from 'node:os';
import { createTurns, type EndTurn } from '../../fairness/turns.ts';
import { ServiceError } from '../../flow/errors.ts';
import { RETRY_AFTER_SECONDS } from './errors.ts';
import { RetryLater } from './retry-later.ts';

/** Places of a process whose own worker carries the runs out: as many as keep the processors busy. */
const WITH_WORKER = { places: 4 * availableParallelism(), share: Math.max(2, availableParallelism()) };
/** Places of a process whose runs are carried out elsewhere. */
const WITHOUT_WORKER = { places: 32, share: 8 };
/**
 * Far longer than a request and a short run take. What takes longer gives its place up, so that a slow database, engine or
 * machine holds nobody's requests back: then an organization begins `share` runs in each such time.
 */
const HELD_MAX_MS = 250;
/** Requests that may wait, of one organization and of all. */
const WAITING_MAX = 1_000;
const WAITING_IN_ALL_MAX = 4_000;
/** Shorter than clients wait for an answer. */
const WAIT_MAX_MS = 30_000;

export type Admission = {
  /**
   * Waits for a place for an organization. Throws RATE_LIMITED when too many of its requests wait or this one has waited too
   * long, SERVICE_BUSY when too many wait in all, and SERVICE_STOPPING when the signal that `createSignal` makes aborts first.
   */
  enter(organization: string, createSignal: () => AbortSignal): Promise<EndTurn>;
};

/**
 * Creates the admission of one API process. One organization has all places, or its share of them while others are
 * present; an organization's first place is beside these. A place is held for `heldMaxMs` at most.
 */
export function createAdmission({
  hasWorker,
  heldMaxMs = HELD_MAX_MS,
}: {
  hasWorker: boolean;
  heldMaxMs?: number;
}): Admission {
  const { places, share } = hasWorker ? WITH_WORKER : WITHOUT_WORKER;
  const turns = createTurns({ places, reserve: places, share });
  const bounded = (end: EndTurn): EndTurn => {
    const late = setTimeout(end, heldMaxMs).unref();
    return () => {
      clearTimeout(late);
      end();
    };
  };
  return {
    async enter(organization, createSignal) {
      if (!turns.isBusy(organization)) return bounded(await turns.wait(organization));
      if (turns.countWaiting(organization) >= WAITING_MAX) throw overShare();
      if (turns.countWaiting() >= WAITING_IN_ALL_MAX) throw serviceBusy();
      const late = AbortSignal.timeout(WAIT_MAX_MS);
      try {
        return bounded(await turns.wait(organization, AbortSignal.any([createSignal(), late])));
      } catch {
        throw late.aborted ? overShare() : new ServiceError('SERVICE_STOPPING', STOPPING);
      }
    },
  };
}

const STOPPING = 'This process is stopping. Nothing was started: send the request again.';

export function serviceBusy(): ServiceError {
  const message = 'Too many runs wait to be started. Nothing was started: send the request again.';
  return new ServiceError('SERVICE_BUSY', message);
}

function overShare(): RetryLater {
  return new RetryLater(
    'RATE_LIMITED',
    `Too many runs of this organization wait to be started: try again in ${RETRY_AFTER_SECONDS} s.`,
    RETRY_AFTER_SECONDS,
  );
}

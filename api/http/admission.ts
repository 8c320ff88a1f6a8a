// Admission of requests that begin a run: in turns between organizations, and refused before anything is stored.
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { ServiceError } from '../../flow/errors.ts';
import { SMALL_BYTES } from '../../platform/limits/gates.ts';
import { createPlace, type EnterPlace } from '../../platform/limits/place.ts';
import { createSparePlaces, type SparePlaces } from '../../platform/limits/spare-places.ts';
import { createTurns } from '../../platform/limits/turns.ts';
import { observeGates } from '../../platform/observability/metrics/gate-metrics.ts';
import { countRefusal } from '../../platform/observability/metrics/http-metrics.ts';
import { callerGone, RETRY_AFTER_SECONDS, RetryLater } from './request-errors.ts';

/**
 * Places of a process whose own worker carries the runs out: as many as keep the processors busy, also with an engine that
 * is milliseconds away; fewer while organizations share them, so that each run is short.
 */
const WITH_WORKER = { places: 4 * availableParallelism(), shared: Math.max(2, availableParallelism()) };
/** As many more for each of these while processors have time to spare, since the engine is further away. */
const SPARE_MAX = 3 * WITH_WORKER.places;
/** Places of a process whose runs are carried out elsewhere. */
const WITHOUT_WORKER = { places: 32, shared: 8 };
/** An organization that has begun no run for this long begins its next one at once. */
const REST_MS = 100;
/** A request takes milliseconds until its run has started. One that takes longer holds nobody else's requests back. */
const HELD_MAX_MS = 1_000;
/** Requests of one organization that may wait. */
export const WAITING_MAX = 1_000;
/** So many of these may be patient: a backlog of jobs leaves room for requests that wait for their runs. */
export const WAITING_PATIENTLY_MAX = 900;
/**
 * Once so many of all organizations wait, one may have its equal share of the room that is left up to twice as many, and a few at
 * least: those that came first keep nobody else out.
 */
export const WAITING_IN_ALL = 4_000;
export const FEW = 8;
/** The same for the bytes of their bodies: thousands of them may wait in a process with 512 MB. */
const WAITING_BYTES_IN_ALL = 64 * 1024 * 1024;
/** Shorter than clients wait for an answer. */
export const WAIT_MAX_MS = 30_000;

export type Admission = {
  /**
   * Waits for a place for an organization. Throws RATE_LIMITED when too many of its requests wait or this one has waited too
   * long, SERVICE_BUSY when too many, or too many bytes, wait in all and this organization has its share of them. When the
   * signal that `createSignal` makes aborts first, it throws SERVICE_STOPPING if the process is stopping, and otherwise
   * REQUEST_TIMEOUT, which nobody reads: the caller has gone.
   */
  enter: EnterPlace;
};

/**
 * Creates the admission of one API process. One organization has all places while it is alone; while others are present, all
 * of them share fewer, one has half of these at most, and one that has rested has its first place beside them. A place is held
 * for `heldMaxMs` at most, unless a run takes it over; a request waits for `waitMaxMs` at most.
 */
export function createAdmission({
  hasWorker,
  stopping,
  heldMaxMs = HELD_MAX_MS,
  waitMaxMs = WAIT_MAX_MS,
  spare = hasWorker ? createSparePlaces(SPARE_MAX) : undefined,
}: {
  hasWorker: boolean;
  stopping?: AbortSignal;
  heldMaxMs?: number;
  waitMaxMs?: number;
  spare?: SparePlaces;
}): Admission & { stopMeasuring(): void } {
  const { places, shared } = hasWorker ? WITH_WORKER : WITHOUT_WORKER;
  // One organization alone at work does not keep all processors busy while others are present.
  const sharedEach = Math.ceil(shared / 2);
  const turns = createTurns({ places, reserve: places, shared, sharedEach, spare, restMs: REST_MS });
  /** The bytes of those that wait, by organization. */
  const held = new Map<string, number>();
  let heldInAll = 0;
  function hold(organization: string, bytes: number): void {
    heldInAll += bytes;
    const now = (held.get(organization) ?? 0) + bytes;
    if (now > 0) held.set(organization, now);
    else held.delete(organization);
  }
  /** Whether one that has `own` of all may have more: of all, there may be `most`, and as many more in equal shares. */
  function isWithin(most: number, inAll: number, own: number, few: number): boolean {
    const left = 2 * most - inAll;
    return inAll < most || (left > 0 && own < Math.max(few, left / turns.countOwnersWaiting()));
  }
  function hasRoom(organization: string, bytes: number): boolean {
    const [inAll, own] = [turns.countWaiting(), turns.countWaiting(organization)];
    if (!isWithin(WAITING_IN_ALL, inAll, own, FEW)) return false;
    const ownBytes = held.get(organization) ?? 0;
    return bytes === 0 || isWithin(WAITING_BYTES_IN_ALL, heldInAll, ownBytes, FEW * SMALL_BYTES);
  }
  /** Each request that has waited begins in a turn of the event loop of its own: input is read between any two of them. */
  let loopTurn: Promise<unknown> = Promise.resolve();
  return {
    stopMeasuring: observeGates({
      run_starts: {
        count() {
          const [inFlight, queued] = [turns.countUnderWay(), turns.countWaiting()];
          return { inFlight, weight: inFlight, queued, keys: 0, oldestWaitMs: 0 };
        },
      },
    }),
    async enter(organization, createSignal, { patient = false, bytes = 0 } = {}) {
      if (!turns.isBusy(organization)) return createPlace(await turns.wait(organization), heldMaxMs);
      if (turns.countWaiting(organization) >= (patient ? WAITING_PATIENTLY_MAX : WAITING_MAX))
        throw notStarted('Too many runs of this organization wait to be started');
      if (!hasRoom(organization, bytes)) throw serviceBusy();
      const late = AbortSignal.timeout(waitMaxMs);
      hold(organization, bytes);
      try {
        const signal = AbortSignal.any([createSignal(), late]);
        const place = createPlace(await turns.wait(organization, signal, { patient }), heldMaxMs);
        loopTurn = loopTurn.then(() => setImmediate());
        await loopTurn;
        return place;
      } catch {
        if (stopping?.aborted) throw new ServiceError('SERVICE_STOPPING', STOPPING);
        if (!late.aborted) throw callerGone();
        throw notStarted(`The run waited ${waitMaxMs / 1_000} s for its turn and was not started`);
      } finally {
        hold(organization, -bytes);
      }
    },
  };
}

const STOPPING = 'This process is stopping. Nothing was started: send the request again.';

export function serviceBusy(): ServiceError {
  const message = 'Too many runs wait to be started. Nothing was started: send the request again.';
  return new ServiceError('SERVICE_BUSY', message);
}

/** Counts the refusal, and makes its error. */
function notStarted(why: string): RetryLater {
  countRefusal('waiting');
  return new RetryLater('RATE_LIMITED', `${why}: try again in ${RETRY_AFTER_SECONDS} s.`);
}

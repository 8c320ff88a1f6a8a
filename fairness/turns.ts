// fairness/ shares what a process has between organizations: places in turns (here), bytes, and limits for each. It uses nothing
// of the project. Turns are taken at sandbox processes, validator threads, model calls, slots of activities, database connections
// and starting runs.

import { createLine, type Line } from './line.ts';
import { createPresence } from './presence.ts';
import type { SparePlaces } from './spare-places.ts';

/** Ends a turn; a second call changes nothing. */
export type EndTurn = () => void;

/** Longer than most turns take, and too short to be felt. */
const BRIEFLY_MS = 50;
/** Turns of one organization that may wait briefly; more are refused at once. */
const WAITING_BRIEFLY_MAX = 8;

type Waiter = { resolve(end: EndTurn): void; reject(error: unknown): void };

export type Turns = {
  /**
   * Waits for the organization's turn; rejects with the reason of the signal or of `close`. A patient one lets the
   * organization's others go first (`Line`).
   */
  wait(organization: string, signal?: AbortSignal, options?: { patient: boolean }): Promise<EndTurn>;
  /**
   * Waits for the organization's turn for BRIEFLY_MS at most, or not at all when many of its turns wait already; undefined
   * when it does not come. For callers who hold others up while they wait.
   */
  waitBriefly(organization: string, signal?: AbortSignal): Promise<EndTurn | undefined>;
  /** Takes the organization's turn; undefined when it would have to wait. */
  takeNow(organization: string): EndTurn | undefined;
  /** Whether the organization's next turn would have to wait. */
  isBusy(organization: string): boolean;
  /** How many turns are under way, in all or of one organization. */
  countUnderWay(organization?: string): number;
  /** How many turns wait, in all or of one organization. */
  countWaiting(organization?: string): number;
  /** Rejects all turns that wait, and those that would have to from now on. Turns under way go on. */
  close(reason: Error): void;
};

/**
 * Creates turns at `places`, of which one organization may have all while it is alone. `reserve` more places are for
 * organizations that have fewer than `few`, so that their first turns do not wait for another's long ones until that many are
 * busy. The waiting organization with the fewest turns under way is next; of equal ones, the one that has waited longest.
 *
 * While several organizations are present (they have had a turn in the last 10 s), they have `shared` of the places together,
 * and each at most `sharedEach`, so that one alone at work leaves room for those who come. `spare` places are added to all of
 * these bounds, half of them to `sharedEach`. With `restMs`, the reserve is only for organizations that had no turn for that
 * long before they ask, and none waits there.
 */
export function createTurns({
  places,
  reserve,
  few = 1,
  shared = places,
  sharedEach = shared,
  spare,
  restMs = 0,
  now = () => performance.now(),
}: {
  places: number;
  reserve: number;
  few?: number;
  shared?: number;
  sharedEach?: number;
  spare?: SparePlaces | undefined;
  restMs?: number;
  now?: () => number;
}): Turns {
  const underWay = new Map<string, number>();
  /** Waiting turns by organization, in the order in which these are served. */
  const waiting = new Map<string, Line<Waiter>>();
  /** Those that have begun or ended a turn lately. */
  const presence = createPresence(now);
  let taken = 0;
  let waitingInAll = 0;
  let closed: Error | undefined;

  const turnsOf = (organization: string): number => underWay.get(organization) ?? 0;
  function areOthersPresent(organization: string): boolean {
    if (presence.areOthers(organization)) return true;
    for (const other of underWay.keys()) if (other !== organization) return true;
    return false;
  }
  function mayUseReserve(organization: string): boolean {
    if (turnsOf(organization) >= few) return false;
    if (restMs === 0) return true;
    return !waiting.has(organization) && presence.msSince(organization) >= restMs;
  }
  function mayBegin(organization: string): boolean {
    const more = spare?.count() ?? 0;
    if (mayUseReserve(organization)) return taken < places + reserve + more;
    if (!areOthersPresent(organization)) return taken < places + more;
    return taken < shared + more && turnsOf(organization) < sharedEach + Math.floor(more / 2);
  }

  function begin(organization: string): EndTurn {
    taken += 1;
    presence.note(organization);
    underWay.set(organization, turnsOf(organization) + 1);
    let ended = false;
    return function end() {
      if (ended) return;
      ended = true;
      taken -= 1;
      presence.note(organization);
      const left = turnsOf(organization) - 1;
      if (left > 0) underWay.set(organization, left);
      else underWay.delete(organization);
      serve();
    };
  }

  function serve(): void {
    for (let next = nextOrganization(); next !== undefined; next = nextOrganization()) {
      const line = waiting.get(next);
      const waiter = line?.takeNext();
      // An organization with more waiting turns goes to the end of the order.
      waiting.delete(next);
      if (line?.length) waiting.set(next, line);
      waiter?.resolve(begin(next));
    }
  }

  function nextOrganization(): string | undefined {
    let next: string | undefined;
    for (const organization of waiting.keys())
      if (mayBegin(organization) && (next === undefined || turnsOf(organization) < turnsOf(next)))
        next = organization;
    return next;
  }

  function leave(organization: string, waiter: Waiter): void {
    const line = waiting.get(organization);
    line?.remove(waiter);
    if (line?.length === 0) waiting.delete(organization);
  }

  const isBusy = (organization: string): boolean => waiting.has(organization) || !mayBegin(organization);
  const takeNow = (organization: string): EndTurn | undefined =>
    isBusy(organization) ? undefined : begin(organization);

  async function wait(
    organization: string,
    signal?: AbortSignal,
    { patient } = { patient: false },
  ): Promise<EndTurn> {
    signal?.throwIfAborted();
    const atOnce = takeNow(organization);
    if (atOnce) return atOnce;
    if (closed) throw closed;
    const waiter = Promise.withResolvers<EndTurn>();
    waitingInAll += 1;
    spare?.look(() => waitingInAll > 0, serve);
    const line = waiting.get(organization) ?? createLine();
    line.add(waiter, patient);
    waiting.set(organization, line);
    const abort = () => {
      leave(organization, waiter);
      waiter.reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await waiter.promise;
    } finally {
      waitingInAll -= 1;
      signal?.removeEventListener('abort', abort);
    }
  }

  const countWaiting = (organization?: string): number =>
    organization === undefined ? waitingInAll : (waiting.get(organization)?.length ?? 0);

  return {
    wait,
    takeNow,
    isBusy,
    countUnderWay: (organization) => (organization === undefined ? taken : turnsOf(organization)),
    countWaiting,
    async waitBriefly(organization, signal) {
      if (!isBusy(organization)) return wait(organization, signal);
      if (countWaiting(organization) >= WAITING_BRIEFLY_MAX) return undefined;
      const patience = AbortSignal.timeout(BRIEFLY_MS);
      try {
        return await wait(organization, signal ? AbortSignal.any([signal, patience]) : patience);
      } catch (error) {
        if (error === patience.reason) return undefined;
        throw error;
      }
    },
    close(reason) {
      closed = reason;
      for (const line of waiting.values())
        for (let waiter = line.takeNext(); waiter; waiter = line.takeNext()) waiter.reject(reason);
      waiting.clear();
    },
  };
}

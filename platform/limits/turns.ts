// platform/limits/ shares what a process has between organizations: places in turns (here), bytes, and limits for each. An owner is
// an organization, or a user who acts for none. Threads yield to the rest of the process (thread.ts). It uses nothing of the
// project.

import { createLine, type Line, type WaitOptions } from './line.ts';
import { createPresence } from './presence.ts';

/** Ends a turn; a second call changes nothing. */
export type EndTurn = () => void;

/** How long a local activity waits, which holds up its workflow task. */
const BRIEFLY_MS = 2_000;
/** Turns of one owner that may wait briefly; more are refused at once. They must leave workflow tasks for other owners. */
const WAITING_BRIEFLY_MAX = 64;

type Waiter = { resolve(end: EndTurn): void; reject(error: unknown): void };

export type Turns = {
  /** Waits for the owner's turn; rejects with the reason of the signal or of `close`. */
  wait(owner: string, signal?: AbortSignal, options?: WaitOptions): Promise<EndTurn>;
  /**
   * Waits for the owner's turn for BRIEFLY_MS at most, or not at all when many of its turns wait already; undefined
   * when it does not come. For callers who hold others up while they wait.
   */
  waitBriefly(owner: string, signal?: AbortSignal, options?: WaitOptions): Promise<EndTurn | undefined>;
  /** Takes the owner's turn; undefined when it would have to wait. */
  takeNow(owner: string): EndTurn | undefined;
  /** Whether the owner's next turn would have to wait. */
  isBusy(owner: string): boolean;
  /** How many turns are under way, in all or of one owner. */
  countUnderWay(owner?: string): number;
  /** How many turns wait, in all or of one owner. */
  countWaiting(owner?: string): number;
  /** Rejects all turns that wait, and those that would have to from now on. Turns under way go on. */
  close(reason: Error): void;
};

/**
 * Creates turns at `places`, of which one owner may have all while it is alone. `reserve` more places are for owners that have
 * fewer than `few`, so that their first turns do not wait for another's long ones until that many are busy. The waiting owner
 * with the fewest turns under way is next; of equal ones, the one that has waited longest.
 *
 * While several owners are present (they have had a turn in the last 10 s), they have `shared` of the places together.
 */
export function createTurns({
  places,
  reserve,
  few = 1,
  shared = places,
  now = () => performance.now(),
}: {
  places: number;
  reserve: number;
  few?: number;
  shared?: number;
  now?: () => number;
}): Turns {
  const underWay = new Map<string, number>();
  /** Waiting turns by owner, in the order in which these are served. */
  const waiting = new Map<string, Line<Waiter>>();
  /** Those that have begun or ended a turn lately. */
  const presence = createPresence(now);
  let taken = 0;
  let waitingInAll = 0;
  let closed: Error | undefined;

  const turnsOf = (owner: string): number => underWay.get(owner) ?? 0;
  function areOthersPresent(owner: string): boolean {
    if (presence.areOthers(owner)) return true;
    for (const other of underWay.keys()) if (other !== owner) return true;
    return false;
  }
  const mayBegin = (owner: string): boolean =>
    taken < (areOthersPresent(owner) ? shared : places) || (turnsOf(owner) < few && taken < places + reserve);

  function begin(owner: string): EndTurn {
    taken += 1;
    presence.note(owner);
    underWay.set(owner, turnsOf(owner) + 1);
    let ended = false;
    return function end() {
      if (ended) return;
      ended = true;
      taken -= 1;
      presence.note(owner);
      const left = turnsOf(owner) - 1;
      if (left > 0) underWay.set(owner, left);
      else underWay.delete(owner);
      serve();
    };
  }

  function serve(): void {
    for (let next = nextOwner(); next !== undefined; next = nextOwner()) {
      const line = waiting.get(next);
      const waiter = line?.takeNext();
      // An owner with more waiting turns goes to the end of the order.
      waiting.delete(next);
      if (line?.length) waiting.set(next, line);
      waiter?.resolve(begin(next));
    }
  }

  function nextOwner(): string | undefined {
    let next: string | undefined;
    for (const owner of waiting.keys())
      if (mayBegin(owner) && (next === undefined || turnsOf(owner) < turnsOf(next))) next = owner;
    return next;
  }

  function leave(owner: string, waiter: Waiter): void {
    const line = waiting.get(owner);
    line?.remove(waiter);
    if (line?.length === 0) waiting.delete(owner);
  }

  const isBusy = (owner: string): boolean => waiting.has(owner) || !mayBegin(owner);
  const takeNow = (owner: string): EndTurn | undefined => (isBusy(owner) ? undefined : begin(owner));

  async function wait(owner: string, signal?: AbortSignal, options: WaitOptions = {}): Promise<EndTurn> {
    signal?.throwIfAborted();
    const atOnce = takeNow(owner);
    if (atOnce) return atOnce;
    if (closed) throw closed;
    const waiter = Promise.withResolvers<EndTurn>();
    waitingInAll += 1;
    const line = waiting.get(owner) ?? createLine();
    line.add(waiter, options);
    waiting.set(owner, line);
    const abort = () => {
      leave(owner, waiter);
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

  const countWaiting = (owner?: string): number =>
    owner === undefined ? waitingInAll : (waiting.get(owner)?.length ?? 0);

  return {
    wait,
    takeNow,
    isBusy,
    countUnderWay: (owner) => (owner === undefined ? taken : turnsOf(owner)),
    countWaiting,
    async waitBriefly(owner, signal, options) {
      if (!isBusy(owner)) return wait(owner, signal, options);
      if (countWaiting(owner) >= WAITING_BRIEFLY_MAX) return undefined;
      const patience = AbortSignal.timeout(BRIEFLY_MS);
      try {
        return await wait(owner, signal ? AbortSignal.any([signal, patience]) : patience, options);
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

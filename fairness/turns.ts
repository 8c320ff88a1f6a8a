// Places that organizations take in turn: sandbox processes, validator threads, runs that begin.

/** Ends a turn; a second call changes nothing. */
export type EndTurn = () => void;

/** Longer than most turns take, and too short to be felt. */
const BRIEFLY_MS = 50;
/** An organization that has had a turn within this time counts as present. */
const PRESENT_MS = 10_000;
/** Of one organization; others wait behind these as long as it takes. */
const WAITING_BRIEFLY_MAX = 8;

type Waiter = { resolve(end: EndTurn): void; reject(error: unknown): void };

export type Turns = {
  /** Waits for the organization's turn; rejects with the reason of the signal or of `close`. */
  wait(organization: string, signal?: AbortSignal): Promise<EndTurn>;
  /**
   * Waits for the organization's turn for BRIEFLY_MS at most, or not at all when many of its turns wait already; undefined
   * when it does not come. For callers who hold others up while they wait.
   */
  waitBriefly(organization: string, signal?: AbortSignal): Promise<EndTurn | undefined>;
  /** Whether the organization's next turn would have to wait. */
  isBusy(organization: string): boolean;
  /** How many turns wait, in all or of one organization. */
  countWaiting(organization?: string): number;
  /** Rejects all turns that wait, and those that would have to from now on. Turns under way go on. */
  close(reason: Error): void;
};

/**
 * One organization has at most `places` turns at a time. Beside these there are `reserve` places for organizations that
 * have none: nobody's first turn waits for another's long ones until that many organizations are busy. Of those who wait,
 * the organization with the fewest turns under way is next; of several, the one that has waited longest for a turn.
 * While others are present, having had a turn in the last 10 s, an organization begins no more than `share` at a time.
 */
export function createTurns({
  places,
  reserve,
  share = places,
  now = () => performance.now(),
}: {
  places: number;
  reserve: number;
  share?: number;
  now?: () => number;
}): Turns {
  const underWay = new Map<string, number>();
  /** In the order of their turns. */
  const waiting = new Map<string, Waiter[]>();
  /** The last two organizations that began a turn, and when: enough to tell whether one has company. */
  let recent: { organization: string; at: number }[] = [];
  let taken = 0;
  let waitingInAll = 0;
  let closed: Error | undefined;

  const turnsOf = (organization: string): number => underWay.get(organization) ?? 0;
  const areOthersPresent = (organization: string): boolean => {
    const other = recent.find((one) => one.organization !== organization);
    return other !== undefined && now() - other.at < PRESENT_MS;
  };
  const mayBegin = (organization: string): boolean => {
    const turns = turnsOf(organization);
    if (turns === 0) return taken < places + reserve;
    return taken < places && (turns < share || !areOthersPresent(organization));
  };

  function begin(organization: string): EndTurn {
    taken += 1;
    const [latest] = recent;
    if (latest?.organization === organization) latest.at = now();
    else recent = [{ organization, at: now() }, ...(latest ? [latest] : [])];
    underWay.set(organization, turnsOf(organization) + 1);
    let ended = false;
    return function end() {
      if (ended) return;
      ended = true;
      taken -= 1;
      const left = turnsOf(organization) - 1;
      if (left > 0) underWay.set(organization, left);
      else underWay.delete(organization);
      serve();
    };
  }

  function serve(): void {
    for (let next = nextOrganization(); next !== undefined; next = nextOrganization()) {
      const waiters = waiting.get(next) ?? [];
      const waiter = waiters.shift();
      // At the end of the order, where more of it wait.
      waiting.delete(next);
      if (waiters.length > 0) waiting.set(next, waiters);
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
    const waiters = waiting.get(organization);
    const place = waiters?.indexOf(waiter) ?? -1;
    if (place >= 0) waiters?.splice(place, 1);
    if (waiters?.length === 0) waiting.delete(organization);
  }

  const isBusy = (organization: string): boolean => waiting.has(organization) || !mayBegin(organization);

  async function wait(organization: string, signal?: AbortSignal): Promise<EndTurn> {
    signal?.throwIfAborted();
    if (!isBusy(organization)) return begin(organization);
    if (closed) throw closed;
    const waiter = Promise.withResolvers<EndTurn>();
    waitingInAll += 1;
    const waiters = waiting.get(organization);
    if (waiters) waiters.push(waiter);
    else waiting.set(organization, [waiter]);
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
    isBusy,
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
      for (const waiters of waiting.values()) for (const waiter of waiters) waiter.reject(reason);
      waiting.clear();
    },
  };
}

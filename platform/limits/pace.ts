/** A turn that has ended within this time counts as lately. */
const LATELY_MS = 10_000;
/** Askers for each turn that has ended lately: enough that no place stays free for long while they come apart. */
const PER_TURN = 2;
/** Askers a second while it is not known yet how fast turns end. */
const UNKNOWN_PER_SECOND = 100;
const DELAY_MIN_MS = 1_000;
const DELAY_MAX_MS = 60_000;

/** How soon those who found no turn ask again, so that about as many ask as find one. */
type Pace = {
  /** Notes that a turn has ended. */
  noteEnd(): void;
  /**
   * Returns the milliseconds after which one of `owner`, who found no turn, asks again: three quarters of a second to a minute.
   * `perSecondMin` of those who wait ask in a second however few turns end, unless they are fewer; owners with the same minimum
   * share it.
   */
  nextInMs(owner: string, perSecondMin: number): number;
};

/** One owner's askers. */
type Askers = {
  since: number;
  perSecondMin: number;
  /** When those who wait ask again. */
  due: Times;
  lastDue: number;
};

/**
 * Creates the pace at one place where turns are taken. Those who wait ask in turn, two for each turn that has ended lately, and
 * each of `n` owners has one `n`th of this.
 */
export function createPace(now = () => performance.now()): Pace {
  const waiting = new Map<string, Askers>();
  const ended = createTimes();

  function askersOf(owner: string, at: number, perSecondMin: number): Askers {
    for (const [other, { lastDue }] of waiting) if (at - lastDue > LATELY_MS) waiting.delete(other);
    const askers = waiting.get(owner) ?? { since: at, perSecondMin, due: createTimes(), lastDue: at };
    waiting.set(owner, askers);
    return askers;
  }

  return {
    noteEnd() {
      const at = now();
      ended.countAfter(at - LATELY_MS);
      ended.add(at);
    },
    nextInMs(owner, perSecondMin) {
      const at = now();
      const askers = askersOf(owner, at, perSecondMin);
      const alike = [...waiting.values()].filter((other) => other.perSecondMin === perSecondMin).length;
      const isUnknown = at - askers.since < LATELY_MS;
      const perSecond = Math.max(
        (PER_TURN * ended.countAfter(at - LATELY_MS) * 1_000) / LATELY_MS / waiting.size,
        isUnknown ? UNKNOWN_PER_SECOND / waiting.size : 0,
        perSecondMin / alike,
      );
      const fair = ((askers.due.countAfter(at) + 1) * 1_000) / perSecond;
      // Those who are to wait for the longest time come back apart, too.
      const delay = Math.min(Math.max(fair, DELAY_MIN_MS), DELAY_MAX_MS) * (0.75 + Math.random() / 4);
      askers.due.add(at + delay);
      askers.lastDue = Math.max(askers.lastDue, at + delay);
      return delay;
    },
  };
}

/** Points in time, of which only the tenth of a second is remembered. */
type Times = {
  add(ms: number): void;
  /** Counts those in later tenths of a second, and forgets the others. */
  countAfter(ms: number): number;
};

function createTimes(): Times {
  const perTenth = new Map<number, number>();
  const tenthOf = (ms: number) => Math.floor(ms / 100);
  return {
    add(ms) {
      const tenth = tenthOf(ms);
      perTenth.set(tenth, (perTenth.get(tenth) ?? 0) + 1);
    },
    countAfter(ms) {
      let count = 0;
      for (const [tenth, times] of perTenth)
        if (tenth > tenthOf(ms)) count += times;
        else perTenth.delete(tenth);
      return count;
    },
  };
}

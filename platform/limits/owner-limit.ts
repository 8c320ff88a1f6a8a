/** How many things of one owner are done at a time; unlike with turns, no owner waits for another. */
export type OwnerLimit = {
  /** Does `work` when fewer than the limit of the owner's are under way, in the order they came. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T>;
  /** Waits for a place as `run` does; returns the function that leaves it. Rejects with the reason of an aborted signal. */
  enter(owner: string, signal?: AbortSignal): Promise<() => void>;
};

/** Creates a limit of `max` for each owner. */
export function createOwnerLimit(max: number): OwnerLimit {
  type Own = { underWay: number; waiting: (() => void)[] };
  const owners = new Map<string, Own>();

  /** Takes a place at once, or answers what to wait for. */
  function take(owner: string, signal?: AbortSignal): { own: Own; turn?: Promise<void> } {
    const own = owners.get(owner) ?? { underWay: 0, waiting: [] };
    owners.set(owner, own);
    if (own.underWay >= max) return { own, turn: waitIn(own.waiting, signal) };
    own.underWay += 1;
    return { own };
  }

  function leave(owner: string, own: Own): void {
    const next = own.waiting.shift();
    if (next) next();
    else {
      own.underWay -= 1;
      if (own.underWay === 0) owners.delete(owner);
    }
  }

  return {
    async enter(owner, signal) {
      signal?.throwIfAborted();
      const { own, turn } = take(owner, signal);
      if (turn) await turn;
      return () => leave(owner, own);
    },
    async run(owner, work) {
      const { own, turn } = take(owner);
      if (turn) await turn;
      try {
        return await work();
      } finally {
        leave(owner, own);
      }
    },
  };
}

function waitIn(waiting: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      waiting.splice(waiting.indexOf(begin), 1);
      reject(signal?.reason);
    };
    const begin = () => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    waiting.push(begin);
  });
}

/** How many things of one owner are done at a time; unlike with turns, no owner waits for another. */
export type OwnerLimit = {
  /** Does `work` when fewer than the limit of the owner's are under way, in the order they came. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T>;
};

/** Creates a limit of `max` for each owner. */
export function createOwnerLimit(max: number): OwnerLimit {
  const owners = new Map<string, { underWay: number; waiting: (() => void)[] }>();
  return {
    async run(owner, work) {
      const own = owners.get(owner) ?? { underWay: 0, waiting: [] };
      owners.set(owner, own);
      if (own.underWay < max) own.underWay += 1;
      else await new Promise<void>((resolve) => own.waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = own.waiting.shift();
        if (next) next();
        else {
          own.underWay -= 1;
          if (own.underWay === 0) owners.delete(owner);
        }
      }
    },
  };
}

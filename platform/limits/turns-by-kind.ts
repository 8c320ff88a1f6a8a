import { createTurns, type EndTurn } from './turns.ts';

/** The part of all places that work of one kind may have. */
const KIND_PART = 3 / 4;

/** Turns at work of several kinds, such as calls to several providers, of which one may hang. */
export type TurnsByKind = {
  /** Waits as `Turns` does. Whoever waits for others of the same kind keeps no place from other kinds. */
  wait(kind: string, owner: string, signal?: AbortSignal, options?: { patient: boolean }): Promise<EndTurn>;
  takeNow(kind: string, owner: string): EndTurn | undefined;
  isBusy(kind: string, owner: string): boolean;
  /** Whether three quarters of the turns of one owner that may wait do so for this kind; never where there is one kind. */
  isCrowded(kind: string, owner: string): boolean;
  countUnderWay(): number;
  countWaiting(): number;
  close(reason: Error): void;
};

/** `waiting`: how many turns of one owner may wait, of any kind. */
type Places = { places: number; reserve: number; few: number; waiting: number };

/**
 * Creates turns as `createTurns` does. Of all these places, each of `kinds` has at most three quarters, and so have all other kinds
 * together; where there is one kind, it has all. Within a kind, owners take turns too.
 */
export function createTurnsByKind({ places, reserve, few, waiting }: Places, kinds: string[]): TurnsByKind {
  const partOf = (count: number) => Math.floor(count * KIND_PART);
  const createPart = () =>
    createTurns({ places: Math.max(1, partOf(places)), reserve: partOf(reserve), few });
  const all = createTurns({ places, reserve, few });
  const parts = new Map(kinds.length > 1 ? kinds.map((kind) => [kind, createPart()]) : []);
  const others = kinds.length > 1 ? createPart() : undefined;
  const partFor = (kind: string) => parts.get(kind) ?? others;
  const everyTurns = [all, ...parts.values(), ...(others ? [others] : [])];

  /** Joins the turn at a part with that at all places: whoever waits for the second has the first, and nobody the reverse. */
  function join(endPart: EndTurn | undefined, endAll: EndTurn): EndTurn {
    return () => {
      endAll();
      endPart?.();
    };
  }

  return {
    async wait(kind, owner, signal, options) {
      const endPart = await partFor(kind)?.wait(owner, signal, options);
      try {
        return join(endPart, await all.wait(owner, signal, options));
      } catch (error) {
        endPart?.();
        throw error;
      }
    },
    takeNow(kind, owner) {
      const part = partFor(kind);
      const endPart = part?.takeNow(owner);
      if (part && !endPart) return undefined;
      const endAll = all.takeNow(owner);
      if (endAll) return join(endPart, endAll);
      endPart?.();
      return undefined;
    },
    isBusy: (kind, owner) => all.isBusy(owner) || (partFor(kind)?.isBusy(owner) ?? false),
    isCrowded: (kind, owner) => (partFor(kind)?.countWaiting(owner) ?? 0) >= partOf(waiting),
    countUnderWay: () => all.countUnderWay(),
    countWaiting: () => everyTurns.reduce((sum, turns) => sum + turns.countWaiting(), 0),
    close(reason) {
      for (const turns of everyTurns) turns.close(reason);
    },
  };
}

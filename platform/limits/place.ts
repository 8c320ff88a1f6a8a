import type { EndTurn } from './turns.ts';

/** A turn whose time is bounded: it ends when that is over. */
export type Place = {
  end: EndTurn;
  /** Gives the place so many milliseconds from now. A place that has ended stays so. */
  holdFor(ms: number): void;
};

/**
 * Waits for a place for an owner, and rejects when there is none or the signal that `createSignal` makes aborts. A patient one
 * lets the owner's others go first (`Line`). `bytes`: what it holds while it waits.
 */
export type EnterPlace = (
  owner: string,
  createSignal: () => AbortSignal,
  options?: { patient?: boolean; bytes?: number },
) => Promise<Place>;

/** Makes a place of a turn, for `ms` from now. */
export function createPlace(endTurn: EndTurn, ms: number): Place {
  let late = setTimeout(endTurn, ms).unref();
  let ended = false;
  return {
    end() {
      ended = true;
      clearTimeout(late);
      endTurn();
    },
    holdFor(ms) {
      if (ended) return;
      clearTimeout(late);
      late = setTimeout(endTurn, ms).unref();
    },
  };
}

import { createFairQueue, type FairQueue } from '../limits/fair-queue.ts';
import { SMALL_BYTES } from '../limits/gates.ts';

/** Bounds the definitions in memory while their JSON Schemas are checked: one of 2 MiB may take twenty times as much memory. */
export type DefinitionTurns = {
  /**
   * Waits for a permit of `owner`, and for a large definition also for one of `large`; returns the function that releases both.
   * Calls `measure` with the permit of the owner. Rejects with the reason of an aborted signal.
   */
  enter(owner: string, measure: () => Promise<number>, signal: AbortSignal): Promise<() => void>;
};

/** Creates a limit of `ownMax` definitions for each owner, and of the capacity of `large` for large definitions of all owners. */
export function createDefinitionTurns(ownMax: number, large: FairQueue): DefinitionTurns {
  const own = createFairQueue({ capacity: Infinity, perKeyMax: ownMax });
  return {
    async enter(owner, measure, signal) {
      const permit = await own.acquire(owner, { signal });
      try {
        if ((await measure()) < SMALL_BYTES) return permit.release;
        const largePermit = await large.acquire(owner, { signal });
        return () => {
          largePermit.release();
          permit.release();
        };
      } catch (error) {
        permit.release();
        throw error;
      }
    },
  };
}

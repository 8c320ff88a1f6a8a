import { SMALL_BYTES } from '../limits/byte-budget.ts';
import { createOwnerLimit } from '../limits/owner-limit.ts';
import type { Turns } from '../limits/turns.ts';

/** Turns at having a definition in hand while its JSON Schemas are looked at: one of 2 MiB may take twenty times as much memory. */
export type DefinitionTurns = {
  /**
   * Waits for a turn of `owner`; returns the function that ends it. A definition that `measure` finds to be large, once its owner
   * may have one more, waits for its turn among those of all owners too. Rejects with the reason of an aborted signal.
   */
  enter(owner: string, measure: () => Promise<number>, signal: AbortSignal): Promise<() => void>;
};

/** Creates turns of which one owner has `own` at a time, those at `large` definitions included. */
export function createDefinitionTurns(own: number, large: Turns): DefinitionTurns {
  const ofOwner = createOwnerLimit(own);
  return {
    async enter(owner, measure, signal) {
      const leave = await ofOwner.enter(owner, signal);
      try {
        if ((await measure()) < SMALL_BYTES) return leave;
        const endTurn = await large.wait(owner, signal);
        return () => {
          endTurn();
          leave();
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

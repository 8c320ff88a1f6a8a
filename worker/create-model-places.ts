import { createSlots } from '../activities/attempts/in-slot.ts';
import type { Config } from '../platform/config/config.ts';
import { createTurnsByKind } from '../platform/limits/turns-by-kind.ts';

/** Model calls that may wait for their turn in one worker, beside those under way. */
const WAITING = { places: 200, reserve: 50, few: 8 };
/** Model calls of organizations that have few under way: this part more than one organization may have, and at least so many. */
const RESERVE = { part: 1 / 4, min: 4, few: 3 };

/**
 * Creates the turns of one worker at calling models, by provider, and the slots of its activities that do so or wait for it.
 * `underWayMax` and `waitingMax`: how many calls these let be under way, and wait.
 */
export function createModelPlaces({
  modelConcurrency,
  providers,
}: Pick<Config, 'modelConcurrency' | 'providers'>) {
  const reserve = Math.max(RESERVE.min, Math.ceil(modelConcurrency * RESERVE.part));
  const few = Math.min(RESERVE.few, modelConcurrency);
  return {
    turns: createTurnsByKind(
      { places: modelConcurrency, reserve, few, waiting: WAITING.places },
      Object.keys(providers),
    ),
    slots: createSlots({
      places: modelConcurrency + WAITING.places,
      reserve: reserve + WAITING.reserve,
      few: WAITING.few,
    }),
    underWayMax: modelConcurrency + reserve,
    waitingMax: WAITING.places + WAITING.reserve,
  };
}

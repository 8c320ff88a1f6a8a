import { LRUCache } from 'lru-cache';

/** The weight of the newest call in the average. */
const WEIGHT = 0.2;
const MODELS_MAX = 1_000;

/** How long the calls of each model have taken in this process. */
type ModelSpeeds = {
  note(model: string, milliseconds: number): void;
  /** Whether the model's calls take longer than `slowMs` on average; those of an unknown one do not. */
  isSlow(model: string): boolean;
};

/** Creates the averages of a process that has made no calls yet. Newer calls weigh more than older ones. */
export function createModelSpeeds(slowMs: number): ModelSpeeds {
  const averages = new LRUCache<string, number>({ max: MODELS_MAX });
  return {
    note(model, milliseconds) {
      const before = averages.get(model) ?? milliseconds;
      averages.set(model, before + WEIGHT * (milliseconds - before));
    },
    isSlow: (model) => (averages.get(model) ?? 0) > slowMs,
  };
}

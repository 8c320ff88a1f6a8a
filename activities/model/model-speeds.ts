import { LRUCache } from 'lru-cache';

/** The weight of the newest call in the average. */
const WEIGHT = 0.2;
/** Maximum number of averages, of all organizations. A model without an average does not count as slow. */
const MODELS_MAX = 10_000;

/** How long the calls of each model have taken in this process, for each organization: its prompts may be long. */
type ModelSpeeds = {
  note(organizationId: string, model: string, milliseconds: number): void;
  /** Whether the organization's calls of the model take longer than `slowMs` on average; those of an unknown one do not. */
  isSlow(organizationId: string, model: string): boolean;
};

/** Creates the averages of a process that has made no calls yet. Newer calls weigh more than older ones. */
export function createModelSpeeds(slowMs: number): ModelSpeeds {
  const averages = new LRUCache<string, number>({ max: MODELS_MAX });
  return {
    note(organizationId, model, milliseconds) {
      const key = `${organizationId} ${model}`;
      const before = averages.get(key) ?? milliseconds;
      averages.set(key, before + WEIGHT * (milliseconds - before));
    },
    isSlow: (organizationId, model) => (averages.get(`${organizationId} ${model}`) ?? 0) > slowMs,
  };
}

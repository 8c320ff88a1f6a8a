import { LRUCache } from 'lru-cache';

/** The weight of the newest call in the average. */
const WEIGHT = 0.2;
/** Maximum number of averages, of all organizations. */
const MODELS_MAX = 10_000;

/** How long the calls of each model have taken in this process, for each organization: its prompts may be long. */
export type ModelSpeeds = {
  /** Measures a call. As soon as it takes longer than `fastMs`, the model counts as slow. */
  measure<T>(organizationId: string, model: string, call: () => Promise<T>): Promise<T>;
  /** Whether the organization's calls of the model took less than `fastMs` on average; without any, false. */
  isFast(organizationId: string, model: string): boolean;
};

/** Creates the averages of a process that has made no calls yet. Newer calls weigh more than older ones. */
export function createModelSpeeds(fastMs: number): ModelSpeeds {
  const averages = new LRUCache<string, number>({ max: MODELS_MAX });
  return {
    async measure(organizationId, model, call) {
      const key = `${organizationId} ${model}`;
      const began = performance.now();
      const late = setTimeout(() => averages.set(key, Math.max(averages.get(key) ?? 0, fastMs)), fastMs);
      try {
        const reply = await call();
        const ms = performance.now() - began;
        const before = averages.get(key) ?? ms;
        averages.set(key, before + WEIGHT * (ms - before));
        return reply;
      } finally {
        clearTimeout(late);
      }
    },
    isFast: (organizationId, model) => (averages.get(`${organizationId} ${model}`) ?? fastMs) < fastMs,
  };
}

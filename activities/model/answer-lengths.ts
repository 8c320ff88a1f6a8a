import { LRUCache } from 'lru-cache';

/** The tokens expected of a model that has not answered yet. */
const FIRST_TOKENS = 1_000;
/** A shorter answer lowers the expectation by this share of the difference; a longer one raises it at once. */
const FALL = 0.2;
/** Maximum number of expectations, of all organizations. */
const MODELS_MAX = 10_000;

/** How long the recent answers of each model were in this process, for each organization. */
export type AnswerLengths = {
  /** Takes note of an answer of `tokens` tokens. */
  add(organizationId: string, model: string, tokens: number): void;
  /** Returns the tokens that the next answer may have. */
  expect(organizationId: string, model: string): number;
};

/** Creates the expectations of a process that has seen no answers yet. */
export function createAnswerLengths(): AnswerLengths {
  const expected = new LRUCache<string, number>({ max: MODELS_MAX });
  return {
    add(organizationId, model, tokens) {
      const key = `${organizationId} ${model}`;
      const before = expected.get(key) ?? tokens;
      expected.set(key, tokens > before ? tokens : before + FALL * (tokens - before));
    },
    expect: (organizationId, model) => Math.ceil(expected.get(`${organizationId} ${model}`) ?? FIRST_TOKENS),
  };
}

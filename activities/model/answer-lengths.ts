import { LRUCache } from 'lru-cache';

/** The most tokens expected of a block whose model has not answered it yet. */
const FIRST_TOKENS = 1_000;
/** A shorter answer lowers the expectation by this share of the difference; a longer one raises it at once. */
const FALL = 0.2;
/** Maximum number of expectations, of all organizations. */
const EXPECTATIONS_MAX = 20_000;

/** A block of an organization and its model. */
type Asked = { organizationId: string; model: string; stepId: string };

/** How long the recent answers of each model to each block were in this process. */
export type AnswerLengths = {
  /** Takes note of an answer of `tokens` tokens. */
  add(asked: Asked, tokens: number): void;
  /**
   * Returns the tokens that the next answer may have: by the answers to the block, before the first by those to other blocks, but
   * no more than a first answer is expected to have. A block with long answers makes no other one seem dear.
   */
  expect(asked: Asked): number;
};

/** Creates the expectations of a process that has seen no answers yet. */
export function createAnswerLengths(): AnswerLengths {
  const expected = new LRUCache<string, number>({ max: EXPECTATIONS_MAX });
  const ofModel = ({ organizationId, model }: Asked) => `${organizationId} ${model}`;
  const ofBlock = (asked: Asked) => `${ofModel(asked)} ${asked.stepId}`;
  return {
    add(asked, tokens) {
      for (const key of [ofModel(asked), ofBlock(asked)]) {
        const before = expected.get(key) ?? tokens;
        expected.set(key, tokens > before ? tokens : before + FALL * (tokens - before));
      }
    },
    expect(asked) {
      const ofOthers = Math.min(expected.get(ofModel(asked)) ?? FIRST_TOKENS, FIRST_TOKENS);
      return Math.ceil(expected.get(ofBlock(asked)) ?? ofOthers);
    },
  };
}

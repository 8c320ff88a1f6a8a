// What a chat completion may use at most, as far as can be told before it is asked for.
import type { TokenUsage } from '../models/registry.ts';

const CHARACTERS_PER_TOKEN = 4;
/** Stands for an image, whose size is not known. */
const TOKENS_PER_IMAGE = 1_600;
/** Of a block that sets no max_tokens. */
export const ANSWER_TOKENS_DEFAULT = 4_096;

/** `asked` is all that the model reads: messages, response format, tools. */
export function estimateUsage(asked: object, maxTokens = ANSWER_TOKENS_DEFAULT): TokenUsage {
  let images = 0;
  const text = JSON.stringify(asked, (_key, value) => {
    if (value?.type !== 'image_url') return value;
    images += 1;
    return undefined;
  });
  return {
    promptTokens: Math.ceil(text.length / CHARACTERS_PER_TOKEN) + images * TOKENS_PER_IMAGE,
    completionTokens: maxTokens,
  };
}

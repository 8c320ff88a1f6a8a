// What a chat completion may use at most, as far as can be told before it is asked for.
import type { TokenUsage } from '../models/registry.ts';

/** Stands for an image, whose size is not known. */
const TOKENS_PER_IMAGE = 1_600;
/** What has more letters at a stretch is rarely made of words. */
const WORD_MAX_LENGTH = 16;

/**
 * `asked` is all that the model reads: messages, response format, tools; `answerTokens` the most it is allowed to answer
 * with.
 */
export function estimateUsage(asked: object, answerTokens: number): TokenUsage {
  let images = 0;
  const text = JSON.stringify(asked, (_key, value) => {
    if (value?.type !== 'image_url') return value;
    images += 1;
    return undefined;
  });
  return {
    promptTokens: Math.ceil(estimateTokens(text) + images * TOKENS_PER_IMAGE),
    completionTokens: answerTokens,
  };
}

/**
 * Tokens of a text, by what its characters are: four letters of a word make one, while digits, signs, capitals and what
 * has no words (base64, hashes), and other scripts, are cut up into smaller pieces, by some models down to their bytes.
 * Measured against o200k and cl100k, which OpenAI's models have: no kind of text has much over twice as many.
 */
function estimateTokens(text: string): number {
  let tokens = 0;
  let letters = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    letters = isLowerCase(character) ? letters + 1 : 0;
    tokens += letters > WORD_MAX_LENGTH ? 0.5 : tokensOf(character);
  }
  return tokens;
}

function isLowerCase(character: number): boolean {
  return character >= 0x61 && character <= 0x7a;
}

function tokensOf(character: number): number {
  if (isLowerCase(character) || character === 0x20) return 0.25;
  if (character >= 0x41 && character <= 0x5a) return 0.9;
  if (character < 0x80) return 0.7;
  if (character < 0x800) return 0.8;
  // Half of a pair, such as an emoji, is as much as a character of Chinese or Thai.
  return 1.5;
}

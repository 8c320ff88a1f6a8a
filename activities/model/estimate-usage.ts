// Estimates the tokens that a chat completion uses, before it is requested.
import type { Completion } from '../../platform/large-values/tasks.ts';
import { NO_TOKENS, type TokenUsage } from '../../platform/models/token-usage.ts';
import { toJson } from './describe-answer.ts';

/** The estimate for an image, whose size is not known. */
const TOKENS_PER_IMAGE = 1_600;
/** A longer run of letters is rarely a word. */
const WORD_MAX_LENGTH = 16;

/**
 * Estimates the usage of one request. `asked` is everything the model reads: messages, response format, tools;
 * `answerTokens` is the expected length of its answer.
 */
export function estimateUsage(asked: object, answerTokens: number): TokenUsage {
  let images = 0;
  const text = JSON.stringify(asked, (_key, value) => {
    if (value?.type !== 'image_url') return value;
    images += 1;
    return undefined;
  });
  return {
    ...NO_TOKENS,
    images,
    promptTokens: Math.ceil(estimateTokens(text) + images * TOKENS_PER_IMAGE),
    completionTokens: answerTokens,
  };
}

/** Estimates the tokens of an answer whose provider reports no usage. */
export function estimateAnswer({ answer, content, tooLong }: Completion): number {
  const [choice] = (answer as { choices?: { message?: unknown }[] } | undefined)?.choices ?? [];
  const long = tooLong ?? (content ? content.length : 0);
  return Math.ceil(estimateTokens(toJson(choice?.message)) + long * 0.25);
}

/**
 * Estimates the tokens of a text from its characters: four letters of a word make one token, while digits, signs,
 * capitals, text without words (base64, hashes) and other scripts are cut into smaller pieces, by some models down to
 * bytes. Measured against o200k and cl100k, the encodings of OpenAI's models: no kind of text has much more than twice the
 * estimate.
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
  // Half of a surrogate pair, such as an emoji, counts as much as a Chinese or Thai character.
  return 1.5;
}

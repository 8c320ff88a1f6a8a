import { readDuration } from './provider-words.ts';

export const RETRY_AFTER_MAX_MS = 60_000;
/** A number of this size is a time since 1970: in seconds, or from the second on in milliseconds. */
const EPOCH_SECONDS_MIN = 1e9;
const EPOCH_MS_MIN = 1e12;

/**
 * Returns the time that a provider asks to wait before a repetition, in milliseconds, at most 60 s: by its headers, otherwise
 * `saidMs`, which its error names. Undefined when it names none.
 */
export function retryAfterMs(headers: Headers | undefined, saidMs: number | undefined): number | undefined {
  const wait = [readRetryAfter(headers), saidMs, readReset(headers)].find((ms) => ms !== undefined && ms > 0);
  return wait === undefined ? undefined : Math.min(Math.ceil(wait), RETRY_AFTER_MAX_MS);
}

function readRetryAfter(headers: Headers | undefined): number | undefined {
  const milliseconds = headers?.get('retry-after-ms') ?? '';
  const secondsOrDate = headers?.get('retry-after') ?? '';
  if (/^\d/.test(milliseconds)) return Number.parseFloat(milliseconds);
  return readTime(secondsOrDate);
}

/** Reads when the limits end that are used up, as OpenAI, Anthropic, Groq, Azure and OpenRouter report them. */
function readReset(headers: Headers | undefined): number | undefined {
  const waits = [...(headers ?? [])].flatMap(([name, value]) => {
    if (!/ratelimit.*reset/.test(name)) return [];
    const left = headers?.get(name.replace('reset', 'remaining').replace('-after', ''));
    return left !== null && Number(left) === 0 ? [readTime(value) ?? 0] : [];
  });
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

/** Reads seconds, a duration, a time since 1970 or a date, as the milliseconds from now. */
function readTime(text: string): number | undefined {
  if (/^[\d.]+$/.test(text)) {
    const number = Number.parseFloat(text);
    if (number >= EPOCH_MS_MIN) return number - Date.now();
    return number >= EPOCH_SECONDS_MIN ? number * 1_000 - Date.now() : number * 1_000;
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? readDuration(text) : date - Date.now();
}

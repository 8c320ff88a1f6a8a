// Finds the JSON values in a model's text: bare, in Markdown fences, in prose, or written as a JSON string.
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { JSON_DEPTH_MAX } from '../../flow/limits.ts';
import { JSON_KEYS_MAX, measureJson } from '../../platform/json-text/measure-json.ts';
import { findInexactNumber, hasInfiniteNumber } from '../../platform/json-text/scan-json.ts';
import { isDeeper } from './is-deeper.ts';

/** More different values are not looked at: the text is ambiguous. */
const VALUES_MAX = 8;
/** Characters that a search in prose may read, for each character of the text. */
const SEARCH_FACTOR = 4;

const FENCE = '```';
/** The start of what is meant as JSON, unlike brackets in prose. */
const JSON_START = /(?:\{\s*["}]|\[\s*(?:["{[\]\d-]|true|false|null))/g;

/**
 * Returns the different JSON values that a text may mean, of at most so many levels each, the likeliest first: [] when it has none.
 * A value inside another one is none of them. Throws OUTPUT_TOO_LARGE.
 */
export function findJsonValues(text: string, levels = JSON_DEPTH_MAX): Json[] {
  const excess = text.length > JSON_KEYS_MAX ? measureJson(Buffer.from(text)).excess : undefined;
  if (excess) throw new ServiceError('OUTPUT_TOO_LARGE', `The answer ${excess}.`);
  const whole = text.replace(/^\ufeff/, '').trim();
  const bare = parse(whole);
  // An answer without anything around it is meant as it is, or is JSON that was written as a string.
  if (bare) return acceptable([bare, typeof bare.value === 'string' ? parse(bare.value) : undefined], levels);
  const answer = whole.slice(afterThoughts(whole));
  return acceptable([...findFenced(answer), ...findInProse(answer)], levels);
}

/** Where the text begins after reasoning whose opening tag the server has put into the prompt. */
function afterThoughts(text: string): number {
  const tag = '</think>';
  const end = text.lastIndexOf(tag);
  return end === -1 ? 0 : end + tag.length;
}

/** `json`: the text of the value, or its meaning where the text only breaks rules that leave no doubt. */
type Parsed = { value: Json; json: string };

function parse(text: string): Parsed | undefined {
  return parseStrictly(text) ?? parseStrictly(mend(text));
}

function parseStrictly(json: string): Parsed | undefined {
  try {
    return { value: JSON.parse(json), json };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const ESCAPES: { [character: string]: string } = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Matches each string, an unfinished one too, and each comma before a closing bracket; takes time in proportion to a text. */
const STRINGS_AND_LAST_COMMAS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*\\?(?:"|$)|,(?=\s*[}\]])/g;

/** Escapes line ends and tabs that a model has left in its strings, and drops commas before a closing bracket. */
function mend(text: string): string {
  return text.replace(STRINGS_AND_LAST_COMMAS, (part) =>
    part === ',' ? '' : part.replace(/[\n\r\t]/g, (character) => ESCAPES[character] ?? ''),
  );
}

/** Leaves out texts that are no JSON, values that cannot be kept exactly, and repeated values. */
function acceptable(all: (Parsed | undefined)[], levels: number): Json[] {
  const values: Json[] = [];
  for (const parsed of all) {
    if (values.length >= VALUES_MAX) break;
    if (!parsed || findInexactNumber(Buffer.from(parsed.json))) continue;
    const { value } = parsed;
    const isKept = !isDeeper(value, levels) && !hasInfiniteNumber(value);
    if (isKept && !values.some((known) => isDeepStrictEqual(known, value))) values.push(value);
  }
  return values;
}

/** Parses the texts between fences, also on one line, with or without the name of the language. */
function findFenced(text: string): (Parsed | undefined)[] {
  const first = text.indexOf(FENCE);
  if (first === -1) return [];
  // JSON may have fences in its strings, so the outermost come first.
  const outer = text.slice(first + FENCE.length, Math.max(first + FENCE.length, text.lastIndexOf(FENCE)));
  const each = text.split(FENCE).filter((_, index) => index % 2 === 1);
  return [outer, ...each.slice(0, VALUES_MAX)].map(
    (fenced) => parse(fenced) ?? parse(fenced.replace(/^[\w.+-]*/, '')),
  );
}

/** Finds objects and arrays in prose. A broken object or array is not searched. */
function findInProse(text: string): Parsed[] {
  const found: Parsed[] = [];
  let budget = text.length * SEARCH_FACTOR;
  JSON_START.lastIndex = 0;
  for (let start = JSON_START.exec(text); start && budget > 0; start = JSON_START.exec(text)) {
    const end = findEndOf(text, start.index);
    budget -= (end ?? text.length) - start.index;
    if (end === undefined) break;
    const parsed = parse(text.slice(start.index, end));
    if (parsed) found.push(parsed);
    if (found.length > VALUES_MAX) break;
    JSON_START.lastIndex = end;
  }
  return found;
}

/** Returns where the object or array that begins at `start` ends; undefined when it does not. */
function findEndOf(text: string, start: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (isString) {
      if (character === '\\') index += 1;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth === 0) return index + 1;
  }
  return undefined;
}

// Regular expressions of schemas: RE2, which cannot backtrack, and what is easily checked beside it.
import { RE2JS, RE2JSException } from 're2js';

/** `toString` is the identity of a pattern for Ajv, so each has its own. */
type Pattern = { test(text: string): boolean; toString(): string };

const TIME = String.raw`T(?:\d+H(?:\d+M)?(?:\d+(?:[.,]\d+)?S)?|\d+M(?:\d+(?:[.,]\d+)?S)?|\d+(?:[.,]\d+)?S)`;
const DURATION = String.raw`^P(?:\d+W|(?:\d+Y(?:\d+M)?(?:\d+D)?|\d+M(?:\d+D)?|\d+D)(?:${TIME})?|${TIME})$`;
const EMOJI = /^[\p{Extended_Pictographic}\p{Emoji_Component}]+$/u;
const ONE_EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20E3/u;

/** Patterns of zod that RE2 does not take, and what checks the same. */
const KNOWN = new Map<string, (text: string) => boolean>([
  [
    String.raw`^P(?:(\d+W)|(?!.*W)(?=\d|T\d)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)$`,
    (text) => RE2JS.compile(DURATION).test(text),
  ],
  [String.raw`^(\p{Extended_Pictographic}|\p{Emoji_Component})+$`, (text) => EMOJI.test(text)],
  [
    String.raw`^(?=[\s\S]*[\p{Extended_Pictographic}\p{Regional_Indicator}\u20E3])[\p{Extended_Pictographic}\p{Emoji_Component}]+$`,
    (text) => EMOJI.test(text) && ONE_EMOJI.test(text),
  ],
]);

/** Compiles a pattern. Throws an Error that says what is not supported. */
export function compilePattern(pattern: string): Pattern {
  return { test: KNOWN.get(pattern) ?? compile(pattern), toString: () => `re2:${pattern}` };
}

function compile(pattern: string): (text: string) => boolean {
  const { plain, assertions } = splitAssertions(pattern);
  const tests = [{ source: plain, expected: true }, ...assertions].map(({ source, expected }) => {
    const compiled = compileRe2(source);
    return (text: string) => compiled.test(text) === expected;
  });
  return (text) => tests.every((test) => test(text));
}

function compileRe2(pattern: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const why = BEYOND_RE2.test(pattern)
      ? 'look-around works only right after ^ and right before $, and back-references do not work. Write it without them, or leave it out and describe it. '
      : '';
    throw new Error(`the pattern is not supported: ${why}${error.message}`);
  }
}

/** Look-around, and references to groups. */
const BEYOND_RE2 = /\(\?<?[=!]|\\[1-9]|\\k</;

type Assertion = { source: string; expected: boolean };

/**
 * Splits off the assertions about a whole text: look-ahead right after `^`, and look-behind right before `$`. Each can be tested
 * alone, unless the pattern has alternatives.
 */
function splitAssertions(pattern: string): { plain: string; assertions: Assertion[] } {
  const groups = findGroups(pattern);
  const assertions: Assertion[] = [];
  if (!groups) return { plain: pattern, assertions };
  let [start, end] = [1, pattern.length - 1];
  if (pattern.startsWith('^'))
    for (const [from, to] of groups) {
      const sign = /^\(\?([=!])/.exec(pattern.slice(from, to))?.[1];
      if (from !== start || !sign) break;
      assertions.push({ source: `^(?:${pattern.slice(from + 3, to - 1)})`, expected: sign === '=' });
      start = to;
    }
  if (pattern.endsWith('$'))
    for (const [from, to] of groups.reverse()) {
      const sign = /^\(\?<([=!])/.exec(pattern.slice(from, to))?.[1];
      if (to !== end || !sign) break;
      assertions.push({ source: `(?:${pattern.slice(from + 4, to - 1)})$`, expected: sign === '=' });
      end = from;
    }
  if (assertions.length === 0) return { plain: pattern, assertions };
  return { plain: pattern[0] + pattern.slice(start, end) + pattern.slice(pattern.length - 1), assertions };
}

/** Finds the outermost groups of a pattern, from their start to the position after them; undefined beside alternatives. */
function findGroups(pattern: string): [from: number, to: number][] | undefined {
  const groups: [number, number][] = [];
  const open: number[] = [];
  let isClass = false;
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index];
    if (character === '\\') index += 1;
    else if (isClass) isClass = character !== ']';
    else if (character === '[') isClass = true;
    else if (character === '|' && open.length === 0) return undefined;
    else if (character === '(') open.push(index);
    else if (character === ')') {
      const from = open.pop();
      if (from === undefined) return undefined;
      if (open.length === 0) groups.push([from, index + 1]);
    }
  }
  return groups;
}

import { findInexactNumber } from './scan-json.ts';

/** Whether a text may have a number that JavaScript would round. */
const LONG_NUMBER = /\d{16}|\d[eE]\+?\d/;

/** JSON.parse with source text access (ECMAScript 2026), which TypeScript's library does not know yet. */
type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown;
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
};

/**
 * Parses JSON so that JSON.stringify of its parts writes each number as it was written: a number that would be rounded becomes a
 * raw JSON value. Throws SyntaxError.
 */
export function parseExactly(json: string): unknown {
  if (!LONG_NUMBER.test(json)) return JSON.parse(json);
  return (JSON.parse as ParseWithSource)(json, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !isExact(value, source) ? rawJSON(source) : value,
  );
}

/** Fractions may be rounded, as every reader of JSON does. */
function isExact(value: number, source: string): boolean {
  if (!Number.isInteger(value)) return Number.isFinite(value);
  return Number.isSafeInteger(value) || findInexactNumber(Buffer.from(source)) === undefined;
}

/** Returns the keys that lead to the first such raw value, at most so many levels deep; undefined when there is none. */
export function findRawNumber(value: unknown, levels: number): string[] | undefined {
  if (isRawJSON(value)) return [];
  if (typeof value !== 'object' || value === null || levels === 0) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const path = findRawNumber(child, levels - 1);
    if (path) return [key, ...path];
  }
  return undefined;
}

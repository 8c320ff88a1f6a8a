import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { JSON_DEPTH_MAX } from '../../flow/limits.ts';
import { findInexactNumber } from '../../platform/json-text/find-inexact-number.ts';
import { hasInfiniteNumber } from '../../platform/json-text/has-infinite-number.ts';
import { JSON_KEYS_MAX, measureJson } from '../../platform/json-text/measure-json.ts';
import { isDeeper } from './is-deeper.ts';

/** Reads the JSON value of an answer, with or without a Markdown fence; undefined when there is none. Throws OUTPUT_TOO_LARGE. */
export function readModelJson(text: string): Json | undefined {
  const excess = text.length > JSON_KEYS_MAX ? measureJson(Buffer.from(text)).excess : undefined;
  if (excess) throw new ServiceError('OUTPUT_TOO_LARGE', `The answer ${excess}.`);
  const fence = text.indexOf('```');
  const fenced = text.slice(text.indexOf('\n', fence), text.lastIndexOf('```'));
  for (const candidate of fence === -1 ? [text] : [text, fenced]) {
    try {
      const value: Json = JSON.parse(candidate);
      if (findInexactNumber(Buffer.from(candidate))) return undefined;
      return isDeeper(value, JSON_DEPTH_MAX) || hasInfiniteNumber(value) ? undefined : value;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

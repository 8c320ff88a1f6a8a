// Small schemas that take a great deal of work to evaluate.
import type { Json, JsonSchema } from '../../../flow/definition.ts';

/** Makes a schema whose definitions each refer to the next one twice: 2^n steps. */
export function fanOut(levels: number): JsonSchema {
  const $defs: { [key: string]: Json } = { [`d${levels}`]: { type: 'object' } };
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { allOf: [next, { properties: { a: next } }, next] };
  }
  return { $ref: '#/$defs/d0', $defs };
}

/** Makes the same, one level of the value deeper each time. */
export function fanIn(levels: number): JsonSchema {
  const $defs: { [key: string]: Json } = { [`d${levels}`]: { type: 'object' } };
  for (let level = 0; level < levels; level++) {
    const next = { properties: { a: { $ref: `#/$defs/d${level + 1}` } } };
    $defs[`d${level}`] = { anyOf: [next, next], $anchor: `a${level}` };
  }
  return { $ref: '#a0', $defs };
}

export function nested(levels: number): JsonSchema {
  let schema: { [key: string]: Json } = { type: 'string' };
  for (let level = 0; level < levels; level++) schema = { allOf: [schema] };
  return schema;
}

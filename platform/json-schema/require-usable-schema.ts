// Checks a schema before anything compiles it: it must be small, self-contained and of a known dialect.
import type { Json, JsonSchema } from '../../flow/definition.ts';
import { extendPointer } from '../../flow/json.ts';
import { SCHEMA_MAX_BYTES } from '../../flow/limits.ts';
import {
  ENDLESS,
  estimateSteps,
  MAP_KEYWORDS,
  REFERENCE_KEYWORDS,
  VALUE_KEYWORDS,
} from './estimate-steps.ts';
import { findWrappedSchema } from './find-idle-schemas.ts';
import { invalidSchema } from './invalid-schema.ts';
import { SCHEMA_CHECK_STEPS_MAX, SCHEMA_DEPTH_MAX, SCHEMA_NODES_MAX } from './limits.ts';
import { standardizeSchema } from './standardize-schema.ts';

/** Older ones have been rewritten. */
const DIALECT = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12|draft-07)\/schema#?$/;
/** `example` is OpenAPI's: its value is not a schema, but a reference of the schema may still lead into it. */
export const UNINSPECTED = [...VALUE_KEYWORDS, 'example'];

/**
 * An accepted schema: the text that is compiled, in standard keywords. `placeOf` returns the JSON Pointer that a place in it has in
 * the schema as written.
 */
export type UsableSchema = { text: string; placeOf(pointer: string): string };

/** The accepted schemas; those of flows are the same objects in every run. */
const accepted = new WeakMap<object, UsableSchema>();

/**
 * Returns the schema as it is compiled. Throws SCHEMA_INVALID (`extra.path`: JSON Pointer into the schema) when it is
 * neither an object nor a boolean, a wrapper around a schema, too large, refers outside itself, asks for too many
 * steps, or uses `$data`, `$async`, another dialect or keywords whose meaning is not clear.
 */
export function requireUsableSchema(schema: JsonSchema): UsableSchema {
  const known = typeof schema === 'object' && schema !== null ? accepted.get(schema) : undefined;
  if (known !== undefined) return known;
  if (
    typeof schema !== 'boolean' &&
    (typeof schema !== 'object' || schema === null || Array.isArray(schema))
  ) {
    throw invalidSchema('', 'a JSON Schema is an object, true or false');
  }
  measure(schema);
  if (Buffer.byteLength(JSON.stringify(schema)) > SCHEMA_MAX_BYTES)
    throw invalidSchema('', `it is over ${SCHEMA_MAX_BYTES} bytes`);
  const inner = findWrappedSchema(schema);
  if (inner !== undefined)
    throw invalidSchema(
      '',
      `it is a wrapper that checks nothing itself, as model providers have it: give only the schema inside, at ${inner}`,
    );
  const { schema: standard, placeOf } = standardizeSchema(schema);
  inspect(standard, '', placeOf);
  const steps = estimateSteps(standard, SCHEMA_CHECK_STEPS_MAX);
  if (steps === Number.POSITIVE_INFINITY) throw invalidSchema('', ENDLESS);
  if (steps >= SCHEMA_CHECK_STEPS_MAX) {
    throw invalidSchema(
      '',
      `checking one value against it takes more than ${SCHEMA_CHECK_STEPS_MAX} steps, since its references multiply: refer to each part fewer times`,
    );
  }
  const usable = { text: JSON.stringify(standard), placeOf };
  if (typeof schema === 'object') accepted.set(schema, usable);
  return usable;
}

/** Finds the JSON Pointer to the first key or string that equals `culprit`; '' when there is none. */
export function findInSchema(value: Json, culprit: string, path = ''): string {
  if (typeof value !== 'object' || value === null) return value === culprit ? path : '';
  for (const [key, child] of Object.entries(value)) {
    const place = extendPointer(path, key);
    const found = key === culprit ? place : findInSchema(child, culprit, place);
    if (found !== '') return found;
  }
  return '';
}

function measure(schema: Json): void {
  let nodes = 0;
  const count = (value: Json, depth: number): void => {
    nodes += 1;
    if (nodes > SCHEMA_NODES_MAX) throw invalidSchema('', `it holds more than ${SCHEMA_NODES_MAX} values`);
    if (typeof value !== 'object' || value === null) return;
    if (depth >= SCHEMA_DEPTH_MAX)
      throw invalidSchema('', `it is nested more than ${SCHEMA_DEPTH_MAX} levels deep`);
    for (const child of Object.values(value)) count(child, depth + 1);
  };
  count(schema, 0);
}

type PlaceOf = UsableSchema['placeOf'];

function inspect(schema: Json, path: string, placeOf: PlaceOf): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [keyword, value] of Object.entries(schema)) {
    const place = extendPointer(path, keyword);
    if (Array.isArray(schema)) inspect(value, place, placeOf);
    else if (UNINSPECTED.includes(keyword)) continue;
    else if (!MAP_KEYWORDS.includes(keyword)) {
      inspectKeyword(keyword, value, placeOf(place));
      inspect(value, place, placeOf);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, child] of Object.entries(value)) inspect(child, extendPointer(place, name), placeOf);
    }
  }
}

function inspectKeyword(keyword: string, value: Json, place: string): void {
  if (REFERENCE_KEYWORDS.includes(keyword) && !(typeof value === 'string' && value.startsWith('#'))) {
    throw invalidSchema(
      place,
      'references must stay inside the schema and begin with #, for example #/$defs/name',
    );
  }
  if (keyword === '$data') throw invalidSchema(place, '$data is not allowed');
  if (keyword === '$async') throw invalidSchema(place, '$async is not allowed');
  if (keyword === '$schema' && !(typeof value === 'string' && DIALECT.test(value))) {
    const known = 'https://json-schema.org/draft/2020-12/schema and http://json-schema.org/draft-07/schema#';
    throw invalidSchema(place, `the known dialects are ${known}, besides 2019-09, draft-06 and draft-04`);
  }
}

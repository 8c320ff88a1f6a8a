// Checks a schema before anything compiles it: it must be small, self-contained and of a known dialect.
import type { Json, JsonSchema } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { extendPointer } from '../../flow/json.ts';
import { SCHEMA_MAX_BYTES } from '../../flow/limits.ts';
import {
  ENDLESS,
  estimateSteps,
  MAP_KEYWORDS,
  REFERENCE_KEYWORDS,
  VALUE_KEYWORDS,
} from './estimate-steps.ts';
import { SCHEMA_CHECK_STEPS_MAX, SCHEMA_DEPTH_MAX, SCHEMA_NODES_MAX } from './limits.ts';

const DIALECT = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12|draft-07)\/schema#?$/;
/** `example` is OpenAPI's: its value is not a schema, but a reference of the schema may still lead into it. */
const UNINSPECTED = [...VALUE_KEYWORDS, 'example'];

/** The texts of accepted schemas; those of flows are the same objects in every run. */
const inspected = new WeakMap<object, string>();

/**
 * Returns the schema's JSON text. Throws SCHEMA_INVALID (`extra.path`: JSON Pointer into the schema) when it is
 * neither an object nor a boolean, too large, refers outside itself, asks for too many steps, or uses `$data`, `$async`
 * or another dialect.
 */
export function requireUsableSchema(schema: JsonSchema): string {
  const known = typeof schema === 'object' && schema !== null ? inspected.get(schema) : undefined;
  if (known !== undefined) return known;
  if (
    typeof schema !== 'boolean' &&
    (typeof schema !== 'object' || schema === null || Array.isArray(schema))
  ) {
    throw invalidSchema('', 'a JSON Schema is an object, true or false');
  }
  measure(schema);
  const text = JSON.stringify(schema);
  if (Buffer.byteLength(text) > SCHEMA_MAX_BYTES)
    throw invalidSchema('', `it is over ${SCHEMA_MAX_BYTES} bytes`);
  inspect(schema, '');
  const steps = estimateSteps(schema, SCHEMA_CHECK_STEPS_MAX);
  if (steps === Number.POSITIVE_INFINITY) throw invalidSchema('', ENDLESS);
  if (steps >= SCHEMA_CHECK_STEPS_MAX) {
    throw invalidSchema(
      '',
      `checking one value against it takes more than ${SCHEMA_CHECK_STEPS_MAX} steps, since its references multiply: refer to each part fewer times`,
    );
  }
  if (typeof schema === 'object') inspected.set(schema, text);
  return text;
}

/** Makes the error for a schema that cannot be used; `path` is a JSON Pointer into the schema. */
export function invalidSchema(path: string, problem: string): ServiceError {
  const where = path === '' ? '' : ` at ${path}`;
  return new ServiceError('SCHEMA_INVALID', `The JSON Schema cannot be used${where}: ${problem}`, { path });
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

function inspect(schema: Json, path: string): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [keyword, value] of Object.entries(schema)) {
    const place = extendPointer(path, keyword);
    if (Array.isArray(schema)) inspect(value, place);
    else if (UNINSPECTED.includes(keyword)) continue;
    else if (!MAP_KEYWORDS.includes(keyword)) {
      inspectKeyword(keyword, value, place);
      inspect(value, place);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, child] of Object.entries(value)) inspect(child, extendPointer(place, name));
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
    throw invalidSchema(place, `the known dialects are ${known}`);
  }
}

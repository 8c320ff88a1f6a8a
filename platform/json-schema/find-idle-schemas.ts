// Finds schemas that check nothing: wrappers around the schema that is meant, and schemas without a keyword.
import type { Json, JsonSchema } from '../../flow/definition.ts';
import { extendPointer, isObject } from '../../flow/json.ts';
import { MAP_KEYWORDS, VALUE_KEYWORDS } from './estimate-steps.ts';

const FOUND_MAX = 5;
const KEYS_SHOWN = 5;
const KEY_MAX_LENGTH = 64;

/** The keywords of draft-07 and 2020-12, and those of OpenAPI that many generators add. */
const KEYWORDS = new Set(
  `$anchor $comment $defs $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema $vocabulary additionalItems
  additionalProperties allOf anyOf const contains contentEncoding contentMediaType contentSchema default definitions dependencies
  dependentRequired dependentSchemas deprecated description discriminator else enum example examples exclusiveMaximum
  exclusiveMinimum externalDocs format if items maxContains maxItems maxLength maxProperties maximum minContains minItems minLength
  minProperties minimum multipleOf not nullable oneOf pattern patternProperties prefixItems properties propertyNames readOnly
  required then title type unevaluatedItems unevaluatedProperties uniqueItems writeOnly xml`.split(/\s+/),
);

const ANNOTATIONS = new Set([
  '$comment',
  '$id',
  '$schema',
  'default',
  'deprecated',
  'description',
  'examples',
  'title',
]);

/** The members of wrappers that hold the schema, or a further wrapper, in the APIs of OpenAI, Anthropic and MCP. */
const WRAPPED = [
  'response_format',
  'format',
  'json_schema',
  'function',
  'schema',
  'parameters',
  'input_schema',
  'inputSchema',
];

/**
 * Finds the schema inside a wrapper such as `{"name": …, "strict": true, "schema": {…}}`, as a JSON Pointer. Undefined for a
 * value that checks something itself, or holds no schema.
 */
export function findWrappedSchema(schema: JsonSchema): string | undefined {
  let pointer = '';
  let value: Json = schema;
  while (isObject(value) && !isChecking(value)) {
    const wrapper: { [key: string]: Json } = value;
    const member = WRAPPED.find((key) => Object.hasOwn(wrapper, key) && isObject(wrapper[key]));
    if (member === undefined) break;
    pointer = extendPointer(pointer, member);
    value = wrapper[member] as Json;
  }
  return pointer || undefined;
}

function isChecking(schema: { [key: string]: Json }): boolean {
  return Object.entries(schema).some(([key, value]) => {
    if (key === 'type') return value !== 'json_schema' && value !== 'function';
    if (key === 'format') return !isObject(value);
    return KEYWORDS.has(key) && !ANNOTATIONS.has(key);
  });
}

/** A schema without a keyword, at a JSON Pointer, and its first keys. */
export type IdleSchema = { pointer: string; keys: string[] };

/** Finds the schemas with keys of which none is a keyword. `{}` and `true` are meant to accept everything. */
export function findIdleSchemas(schema: JsonSchema): IdleSchema[] {
  const found: IdleSchema[] = [];
  look(schema, '', found);
  return found;
}

function look(schema: Json, pointer: string, found: IdleSchema[]): void {
  if (Array.isArray(schema))
    for (const [index, item] of schema.entries()) look(item, `${pointer}/${index}`, found);
  if (!isObject(schema) || found.length >= FOUND_MAX) return;
  const keys = Object.keys(schema);
  if (keys.length > 0 && !keys.some((key) => KEYWORDS.has(key) || key.startsWith('x-'))) {
    found.push({ pointer, keys: keys.slice(0, KEYS_SHOWN).map((key) => key.slice(0, KEY_MAX_LENGTH)) });
    return;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const place = extendPointer(pointer, keyword);
    if (!KEYWORDS.has(keyword) || OPAQUE.has(keyword)) continue;
    if (!MAP_KEYWORDS.includes(keyword)) look(value, place, found);
    else if (isObject(value))
      for (const [name, child] of Object.entries(value)) look(child, extendPointer(place, name), found);
  }
}

/** Keywords whose values are no schemas. */
const OPAQUE = new Set([...VALUE_KEYWORDS, 'example', 'discriminator', 'externalDocs', 'xml', '$vocabulary']);

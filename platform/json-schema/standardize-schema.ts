// Rewrites what OpenAPI, older drafts and common generators write into the keywords of 2020-12, with the same meaning. What has no
// clear meaning is refused, with its place.
import type { Json, JsonSchema } from '../../flow/definition.ts';
import { extendPointer, followPointer, isObject } from '../../flow/json.ts';
import {
  decodeFragment,
  dialectOf,
  MAP_KEYWORDS,
  REFERENCE_KEYWORDS,
  VALUE_KEYWORDS,
} from './estimate-steps.ts';
import { invalidSchema } from './invalid-schema.ts';
import { readType } from './read-type.ts';

type Keywords = { [keyword: string]: Json };

/** A schema in standard keywords. `placeOf` returns the JSON Pointer that a place in it has in the schema as written. */
type Standardized = { schema: JsonSchema; placeOf(pointer: string): string };

/** Drafts that are read as 2020-12. */
const OLDER = /^https?:\/\/json-schema\.org\/(?:draft-0[46]|draft\/2019-09)\/schema#?$/;
/** Known dialects, as Ajv spells them. Many schemas have the other of http and https. */
const DIALECTS = [
  'https://json-schema.org/draft/2020-12/schema',
  'http://json-schema.org/draft-07/schema',
  'http://json-schema.org/draft-07/schema#',
];
const NULL = { type: 'null' };

/** Keywords that stay beside the choice between null and the rest of a schema. */
const OUTSIDE = new Set(
  `$schema $id $anchor $dynamicAnchor $comment $defs definitions title description default examples example deprecated readOnly
  writeOnly`.split(/\s+/),
);
const COMBINING = ['allOf', 'anyOf', 'oneOf', 'not', 'const', 'if', ...REFERENCE_KEYWORDS];
/** Keywords that check nothing, with the type of their values. Others are dropped. */
const NOTES = new Map<string, (value: Json) => boolean>(
  Object.entries({
    title: isText,
    description: isText,
    $comment: isText,
    contentEncoding: isText,
    contentMediaType: isText,
    examples: Array.isArray,
    deprecated: isFlag,
    readOnly: isFlag,
    writeOnly: isFlag,
  }),
);
const BOUNDS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

/** Rewrites a schema. Throws SCHEMA_INVALID. */
export function standardizeSchema(written: JsonSchema): Standardized {
  if (!isObject(written)) return { schema: written, placeOf: (pointer) => pointer };
  const isDraft07 = dialectOf(written) === 'draft-07';
  /** Places of schemas, from the written to the new one and back. */
  const places = new Map<string, string>();
  const origins = new Map<string, string>();
  const ids = new Map<string, string>();

  findIds(written, '', ids);
  const schema = rewrite(written, '', '');
  return { schema: relink(schema) as JsonSchema, placeOf };

  function placeOf(pointer: string): string {
    for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1)) {
      const origin = origins.get(pointer.slice(0, end));
      if (origin !== undefined) return origin + pointer.slice(end);
    }
    return pointer;
  }

  /** `from`: where the value is in the written schema; `to`: where it will be. */
  function rewrite(value: Json, from: string, to: string): Json {
    if (Array.isArray(value))
      return value.map((child, index) => rewrite(child, `${from}/${index}`, `${to}/${index}`));
    if (!isObject(value)) return value;
    places.set(from, to);
    origins.set(to, from);
    const keywords = readKeywords(value, from);
    const isNullable = readNullable(keywords, from);
    const isTuple = Array.isArray(keywords.items) && !isDraft07;
    const wraps = isNullable && addNull(keywords);
    const inside = wraps ? `${to}/anyOf/0` : to;
    if (wraps) origins.set(inside, from);

    const rest: [string, Json][] = [];
    const outside: [string, Json][] = [];
    for (const [keyword, child] of Object.entries(keywords)) {
      const name = !isTuple
        ? keyword
        : keyword === 'items'
          ? 'prefixItems'
          : keyword === 'additionalItems'
            ? 'items'
            : keyword;
      const list = wraps && OUTSIDE.has(keyword) ? outside : rest;
      const at = extendPointer(list === outside ? to : inside, name);
      origins.set(at, extendPointer(from, keyword));
      list.push([name, rewriteKeyword(keyword, child, extendPointer(from, keyword), at, value)]);
    }
    const body = Object.fromEntries(rest);
    return wraps ? { ...Object.fromEntries(outside), anyOf: [body, NULL] } : body;
  }

  function rewriteKeyword(keyword: string, value: Json, from: string, to: string, schema: Keywords): Json {
    if (VALUE_KEYWORDS.includes(keyword) || keyword === 'example') return value;
    if (MAP_KEYWORDS.includes(keyword) && isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, child]) => [
          name,
          rewrite(child, extendPointer(from, name), extendPointer(to, name)),
        ]),
      );
    if (keyword !== 'oneOf' || !Array.isArray(value)) return rewrite(value, from, to);
    return value.map((part, index) => {
      const names = namesOf(written, part, schema.discriminator);
      const at = `${to}/${index}`;
      if (!names) return rewrite(part, `${from}/${index}`, at);
      const { propertyName } = schema.discriminator as { propertyName: string };
      const told = { properties: { [propertyName]: { enum: names } }, required: [propertyName] };
      return { allOf: [rewrite(part, `${from}/${index}`, `${at}/allOf/0`), told] };
    });
  }

  /** Leads the references to the new places of what they lead to. */
  function relink(value: Json, isMap = false): Json {
    if (Array.isArray(value)) return value.map((child) => relink(child));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([keyword, child]) => {
        if (!isMap && keyword === '$ref' && typeof child === 'string') return [keyword, leadAnew(child)];
        if (!isMap && (VALUE_KEYWORDS.includes(keyword) || keyword === 'example')) return [keyword, child];
        return [keyword, relink(child, !isMap && MAP_KEYWORDS.includes(keyword))];
      }),
    );
  }

  function leadAnew(reference: string): string {
    const [base = '', fragment = ''] = reference.split('#');
    const named =
      ids.get(reference) ?? (fragment === '' || fragment.startsWith('/') ? ids.get(base) : undefined);
    if (base !== '' && named === undefined) return reference;
    const pointer = ids.has(reference) ? (named ?? '') : (named ?? '') + decodeFragment(fragment);
    if (base === '' && !pointer.startsWith('/')) return reference;
    const place = places.get(pointer) ?? pointer;
    return base === '' && place === pointer ? reference : `#${encodeURI(place)}`;
  }
}

/** Reads the keywords of one schema, without those that are null, as some generators leave them, and notes of a wrong type. */
function readKeywords(schema: Keywords, path: string): Keywords {
  const keywords = new Map(
    Object.entries(schema).filter(
      ([keyword, value]) =>
        (value !== null || VALUE_KEYWORDS.includes(keyword)) && (NOTES.get(keyword)?.(value) ?? true),
    ),
  );
  const refuse = (keyword: string, problem: string): never => {
    throw invalidSchema(extendPointer(path, keyword), problem);
  };
  if (keywords.get('enum') === null) keywords.delete('enum');
  const dialect = String(keywords.get('$schema'));
  if (OLDER.test(dialect)) keywords.delete('$schema');
  for (const known of DIALECTS)
    if (dialect.replace(/^https?:/, '') === known.replace(/^https?:/, '')) keywords.set('$schema', known);
  // The name of a schema in draft-04; Ajv refuses it.
  if (isText(keywords.get('id') ?? null)) keywords.delete('id');
  else if (keywords.has('id'))
    refuse('id', 'this is no keyword: name the fields of an object inside properties');
  const type = keywords.get('type');
  if (type !== undefined) keywords.set('type', readType(type, extendPointer(path, 'type')));
  const values = keywords.get('enum');
  if (Array.isArray(values) && values.length === 0) refuse('enum', 'it allows no value: leave it out');
  for (const [exclusive, bound] of BOUNDS) {
    const flag = keywords.get(exclusive);
    if (!isFlag(flag ?? null)) continue;
    keywords.delete(exclusive);
    if (flag === false) continue;
    const limit = keywords.get(bound);
    if (limit === undefined)
      refuse(exclusive, `it says nothing without ${bound}: write the bound here, as a number`);
    keywords.delete(bound);
    keywords.set(exclusive, limit as Json);
  }
  return requireProperties(Object.fromEntries(keywords), path);
}

/** Reads `required: true` of a property, as in draft-03, and names that are listed twice. */
function requireProperties(keywords: Keywords, path: string): Keywords {
  const { properties, required } = keywords;
  if (isFlag(required ?? null))
    throw invalidSchema(
      extendPointer(path, 'required'),
      'list the names of required properties here, as ["name"], in the schema of their object',
    );
  const flagged = Object.entries(isObject(properties) ? properties : {}).filter(
    ([, property]) => isObject(property) && isFlag(property.required ?? null),
  );
  const listed = Array.isArray(required) ? new Set(required) : undefined;
  if (flagged.length === 0) return listed ? { ...keywords, required: [...listed] } : keywords;
  const needed = flagged.filter(([, property]) => (property as Keywords).required).map(([name]) => name);
  const others = flagged.map(([name, property]) => {
    const { required: _, ...rest } = property as Keywords;
    return [name, rest];
  });
  return {
    ...keywords,
    properties: { ...(properties as Keywords), ...Object.fromEntries(others) },
    required: [...new Set([...(listed ?? []), ...needed])],
  };
}

/** Removes OpenAPI's `nullable`, or `x-nullable` of Swagger 2, and returns whether null is allowed. */
function readNullable(keywords: Keywords, path: string): boolean {
  let isNullable = false;
  for (const keyword of ['nullable', 'x-nullable']) {
    const value = keywords[keyword];
    if (value === undefined) continue;
    if (!isFlag(value)) throw invalidSchema(extendPointer(path, keyword), 'it must be true or false');
    isNullable ||= value === true;
    delete keywords[keyword];
  }
  return isNullable;
}

/** Allows null in a schema's own keywords; returns whether that takes a choice between null and the schema. */
function addNull(keywords: Keywords): boolean {
  const { type, enum: values, anyOf } = keywords;
  const combining = COMBINING.filter((keyword) => keyword in keywords);
  if (combining.join() === 'anyOf' && type === undefined && values === undefined && Array.isArray(anyOf)) {
    keywords.anyOf = [...anyOf, NULL];
    return false;
  }
  if (combining.length > 0) return true;
  if (type !== undefined) keywords.type = [...new Set([type, 'null'].flat())];
  if (Array.isArray(values)) keywords.enum = values.includes(null) ? values : [...values, null];
  return false;
}

/** Lists the values of OpenAPI's discriminator for a part of a oneOf; undefined where the part says so itself. */
function namesOf(root: Json, part: Json, discriminator: Json | undefined): string[] | undefined {
  if (!isObject(discriminator) || !isObject(part) || typeof part.$ref !== 'string') return undefined;
  const { propertyName, mapping } = discriminator;
  const { $ref: reference } = part;
  if (typeof propertyName !== 'string' || !reference.startsWith('#')) return undefined;
  if (tells(root, part, propertyName)) return undefined;
  const last = (text: Json) => String(text).slice(String(text).lastIndexOf('/') + 1);
  const mapped = Object.entries(isObject(mapping) ? mapping : {}).filter(
    ([, target]) => last(target) === last(reference),
  );
  return mapped.length > 0 ? mapped.map(([name]) => name) : [last(reference)];
}

/** Whether a schema, or one that it refers to or includes, fixes the value of a property. */
function tells(root: Json, schema: Json | undefined, name: string, seen = new Set<Json>()): boolean {
  if (!isObject(schema) || seen.has(schema)) return false;
  seen.add(schema);
  const { $ref, allOf, properties } = schema;
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (isObject(property) && ('const' in property || 'enum' in property)) return true;
  const others = Array.isArray(allOf) ? [...allOf] : [];
  if (typeof $ref === 'string' && $ref.startsWith('#'))
    others.push(followPointer(root, decodeFragment($ref.slice(1))) ?? null);
  return others.some((other) => tells(root, other, name, seen));
}

/** Finds the pointers of schemas that have a name: the root, and those with an `id` of draft-04. */
function findIds(value: Json, pointer: string, ids: Map<string, string>, isMap = false): void {
  if (Array.isArray(value))
    for (const [index, child] of value.entries()) findIds(child, `${pointer}/${index}`, ids);
  if (!isObject(value)) return;
  const { id, $id } = value;
  if (!isMap && typeof id === 'string' && id !== '') ids.set(id.replace(/#$/, ''), pointer);
  if (pointer === '' && typeof $id === 'string' && $id !== '') ids.set($id.replace(/#$/, ''), pointer);
  for (const [keyword, child] of Object.entries(value))
    if (isMap || !VALUE_KEYWORDS.includes(keyword))
      findIds(child, extendPointer(pointer, keyword), ids, !isMap && MAP_KEYWORDS.includes(keyword));
}

function isText(value: Json): value is string {
  return typeof value === 'string';
}

function isFlag(value: Json): value is boolean {
  return typeof value === 'boolean';
}

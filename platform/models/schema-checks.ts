// What a JSON Schema asks of values, without its notes and without keywords that take every value.
import type { Json } from '../../flow/definition.ts';
import { isObject } from '../../flow/json.ts';
import { FAST_FORMATS, STRICT_FORMATS } from '../json-schema/formats.ts';

export type Keywords = { [keyword: string]: Json };

/** Keywords that check values, by the type of these values; all other keywords are notes. */
const CHECKS = new Map(
  Object.entries({
    any: '$ref $dynamicRef $recursiveRef type enum const allOf anyOf oneOf not if',
    object: `properties required additionalProperties unevaluatedProperties patternProperties propertyNames minProperties
      maxProperties dependencies dependentRequired dependentSchemas`,
    array: 'items prefixItems unevaluatedItems contains uniqueItems minItems maxItems',
    string: 'pattern format minLength maxLength',
    number: 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
  }).flatMap(([type, keywords]) => keywords.split(/\s+/).map((keyword) => [keyword, type] as const)),
);

const CHECKED_FORMATS: readonly Json[] = [...STRICT_FORMATS, ...FAST_FORMATS];

/** Returns the keywords that check something. */
export function listChecks(schema: Keywords): Keywords {
  const types = typesOf(schema);
  return Object.fromEntries(
    Object.entries(schema).filter(([keyword, value]) => {
      const type = CHECKS.get(keyword);
      if (type === undefined || isIdle(keyword, value, schema)) return false;
      return type === 'any' || types.length === 0 || types.some((one) => one === type || isWithin(one, type));
    }),
  );
}

function isIdle(keyword: string, value: Json, schema: Keywords): boolean {
  if (keyword === 'if') return schema.then === undefined && schema.else === undefined;
  if (keyword === 'format') return !CHECKED_FORMATS.includes(value);
  if (keyword === 'propertyNames' && isObject(value) && value.type === 'string')
    return Object.keys(listChecks(value)).length === 1;
  if (['unevaluatedItems', 'unevaluatedProperties', 'propertyNames'].includes(keyword))
    return value === true || (isObject(value) && Object.keys(listChecks(value)).length === 0);
  if (['patternProperties', 'dependencies', 'dependentRequired', 'dependentSchemas'].includes(keyword))
    return isObject(value) && Object.keys(value).length === 0;
  return value === false ? keyword === 'uniqueItems' : value === 0 && /^min[A-Z]/.test(keyword);
}

/** Lists the types of the values that a schema takes, by its own keywords; [] where they do not say. */
export function typesOf({ type, enum: values, const: value }: Keywords): string[] {
  if (type !== undefined) return [type].flat() as string[];
  const given = value === undefined ? values : [value];
  const types = new Set(Array.isArray(given) ? given.map(typeOf) : []);
  if (types.has('number')) types.delete('integer');
  return [...types];
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

/** Whether each value of a type is one of the other type. */
function isWithin(type: string, other: string): boolean {
  return type === other || (type === 'integer' && other === 'number');
}

/** Whether a value is of one of these types. */
export function isOfTypes(value: Json, types: string[]): boolean {
  return types.some((type) => isWithin(typeOf(value), type));
}

/** Whether each value that a schema takes is of one of these types; false where its keywords do not say. */
export function takesOnly(schema: Json | undefined, types: string[]): boolean {
  const own = isObject(schema) ? typesOf(schema) : [];
  return own.length > 0 && own.every((type) => types.some((other) => isWithin(type, other)));
}

/** Whether a schema takes no value. */
export function takesNothing(schema: Json | undefined): boolean {
  if (!isObject(schema)) return schema === false;
  return schema.not === true || (isObject(schema.not) && Object.keys(listChecks(schema.not)).length === 0);
}

/**
 * Whether no value matches both schemas, as far as their types, values, and the values of required properties say.
 * `resolve` returns what a schema that is only a reference leads to.
 */
export function areDisjoint(
  one: Json | undefined,
  other: Json | undefined,
  resolve: (schema: Json | undefined) => Json | undefined,
  depth = 2,
): boolean {
  const [a, b] = [resolve(one), resolve(other)];
  if (!isObject(a) || !isObject(b)) return false;
  const [typesA, typesB] = [typesOf(a), typesOf(b)];
  if (typesA.length === 0 || typesB.length === 0) return false;
  const common = typesA.filter((type) =>
    typesB.some((with_) => isWithin(type, with_) || isWithin(with_, type)),
  );
  if (common.length === 0) return true;
  const [valuesA, valuesB] = [valuesOf(a), valuesOf(b)];
  if (valuesA && valuesB) return !valuesA.some((value) => valuesB.includes(value));
  if (depth === 0 || common.some((type) => type !== 'object')) return false;
  const needed = new Set(b.required as string[] | undefined);
  return ((a.required ?? []) as string[])
    .filter((name) => needed.has(name))
    .some((name) => areDisjoint(propertyOf(a, name), propertyOf(b, name), resolve, depth - 1));
}

/** Lists the values that a schema names, as texts. */
function valuesOf({ enum: values, const: value }: Keywords): string[] | undefined {
  const given = value === undefined ? values : [value];
  return Array.isArray(given) ? given.map((one) => JSON.stringify(one)) : undefined;
}

function propertyOf({ properties }: Keywords, name: string): Json | undefined {
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

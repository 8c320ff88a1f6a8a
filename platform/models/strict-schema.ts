// Writes a schema anew for OpenAI's strict mode, which takes a part of JSON Schema
// (https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas, as of November 2026).
import type { Json, JsonSchema } from '../../flow/definition.ts';
import { followPointer, isObject } from '../../flow/json.ts';
import { decodeFragment } from '../json-schema/estimate-steps.ts';
import {
  areDisjoint,
  isOfTypes,
  type Keywords,
  listChecks,
  takesNothing,
  takesOnly,
  typesOf,
} from './schema-checks.ts';
import { exceedsStrictLimits, LEVELS_MAX } from './strict-limits.ts';

/** Keywords that are taken as they are. */
const TAKEN = new Set(
  'minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf pattern format'.split(' '),
);
const FORMATS = new Set<Json>([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
]);
/** Lookups with which the parts of oneOf are compared; some milliseconds of work. A schema that takes more is not strict. */
const RESOLVED_MAX = 5_000;
const LOOK_AROUND = /\(\?<?[=!]/;

/**
 * Returns a schema for strict mode with the same meaning as a schema of objects; undefined where there is none: an optional
 * property has none, since strict mode would want it as null. Titles and descriptions stay, other notes are dropped. References
 * lead to `#` and into `$defs`.
 */
export function toStrictSchema(root: JsonSchema): JsonSchema | undefined {
  const { convert, references, state } = createConverter(root);
  const schema = convert(root, 1);
  const $defs = Object.fromEntries(references.definitions.values());
  if (references.definitions.size > 0) schema.$defs = $defs;
  return !state.failed && schema.type === 'object' && !exceedsStrictLimits(schema) ? schema : undefined;
}

function createConverter(root: Json) {
  const state = { failed: false };
  const references = createReferences(root, convert);
  let resolved = 0;

  function resolve(schema: Json | undefined): Json | undefined {
    resolved += 1;
    return resolved > RESOLVED_MAX ? undefined : references.resolve(schema);
  }

  function fail(): Keywords {
    state.failed = true;
    return {};
  }

  function convert(schema: Json | undefined, level: number): Keywords {
    if (!isObject(schema) || level > LEVELS_MAX || state.failed) return fail();
    // References inside would have another base.
    if (typeof schema.$id === 'string' && schema !== root) return fail();
    const { title, description } = schema;
    const notes = {
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
    };
    const { $ref, allOf, anyOf, oneOf, ...others } = listChecks(schema);
    const combined = [$ref, allOf, anyOf, oneOf].filter((value) => value !== undefined);
    if (combined.length === 0) return { ...convertTyped(others, level), ...notes };

    const parts = ($ref === undefined ? combined.flat() : [{ $ref }]) as Json[];
    const { type, ...beside } = others;
    const types = typesOf(others);
    const isTyped = type !== undefined && !parts.every((part) => takesOnly(resolve(part), types));
    if (combined.length > 1 || Object.keys(beside).length > 0 || isTyped) return fail();
    if ($ref !== undefined) {
      const reference = references.refer(String($ref));
      if (reference === undefined) return fail();
      // No other keyword may stand beside a reference.
      return Object.keys(notes).length === 0
        ? { $ref: reference }
        : { ...notes, anyOf: [{ $ref: reference }] };
    }
    if (allOf !== undefined) {
      const [only] = parts;
      return isObject(only) && parts.length === 1 ? convert({ ...only, ...notes }, level) : fail();
    }
    if (oneOf !== undefined && !areAllDisjoint(parts)) return fail();
    return { ...notes, anyOf: parts.map((part) => convert(part, level + 1)) };
  }

  function areAllDisjoint(schemas: Json[]): boolean {
    return schemas.every((schema, index) =>
      schemas.slice(index + 1).every((other) => areDisjoint(schema, other, resolve)),
    );
  }

  function convertTyped(checks: Keywords, level: number): Keywords {
    const types = typesOf(checks);
    const { type: _, enum: values, const: value, items, ...beside } = checks;
    const { properties, required, additionalProperties, unevaluatedProperties, ...others } = beside;
    const { pattern = '', format } = others;
    if (types.length === 0 || !Object.keys(others).every((keyword) => TAKEN.has(keyword))) return fail();
    if (LOOK_AROUND.test(String(pattern)) || (format !== undefined && !FORMATS.has(format))) return fail();
    const converted: Keywords = { type: types.length === 1 ? (types[0] as string) : types };
    const given = value === undefined ? values : [value];
    if (Array.isArray(given)) {
      const possible = given.filter((one) => isOfTypes(one, types));
      if (possible.length === 0 || possible.some((one) => typeof one === 'object' && one !== null))
        return fail();
      if (value === undefined) converted.enum = possible;
      else converted.const = value;
    }
    if (types.includes('object')) {
      const names = Object.keys(properties ?? {});
      const needed = new Set(required as string[] | undefined);
      const isClosed = takesNothing(additionalProperties) || takesNothing(unevaluatedProperties);
      if (!isClosed || needed.size !== names.length || !names.every((name) => needed.has(name)))
        return fail();
      const parts = Object.entries(properties ?? {}).map(([name, part]) => [name, convert(part, level + 1)]);
      converted.properties = Object.fromEntries(parts);
      Object.assign(converted, { required: names, additionalProperties: false });
    }
    if (types.includes('array')) converted.items = convert(items, level + 1);
    return { ...converted, ...others };
  }

  return { convert, references, state };
}

function createReferences(root: Json, convert: (schema: Json, level: number) => Keywords) {
  /** Name and schema, by the pointer to the original. */
  const definitions = new Map<string, [name: string, schema: Keywords]>();

  function follow(reference: string): Json | undefined {
    return reference === '#' || reference.startsWith('#/')
      ? followPointer(root, decodeFragment(reference.slice(1)))
      : undefined;
  }

  /** A name has few kinds of characters: others have been refused. */
  function freeName(pointer: string): string {
    const taken = new Set(Array.from(definitions.values(), ([name]) => name));
    let name = pointer.slice(pointer.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9_-]/g, '_');
    while (taken.has(name)) name += '_';
    return name;
  }

  return {
    definitions,
    /** Returns the new reference to what a reference leads to; undefined where that is not found. */
    refer(reference: string): string | undefined {
      if (reference === '#') return reference;
      const target = follow(reference);
      if (target === undefined) return undefined;
      const pointer = decodeFragment(reference.slice(1));
      let definition = definitions.get(pointer);
      if (!definition) {
        definition = [freeName(pointer), {}];
        definitions.set(pointer, definition);
        definition[1] = convert(target, 2);
      }
      return `#/$defs/${definition[0]}`;
    },
    /** Returns the schema that a schema only refers to, and itself for others. */
    resolve(schema: Json | undefined): Json | undefined {
      let resolved = schema;
      for (let times = 0; isObject(resolved) && times < LEVELS_MAX; times++) {
        const { $ref, allOf = [], ...others } = listChecks(resolved);
        const [only, ...more] =
          typeof $ref === 'string' ? [follow($ref), ...(allOf as Json[])] : (allOf as Json[]);
        if (only === undefined || more.length > 0 || Object.keys(others).length > 0) break;
        resolved = only;
      }
      return resolved;
    },
  };
}

// The schemas of `tools/list`, as short and simple as clients and their models need them.
import type { z } from 'zod';

type Schema = { [key: string]: unknown };

/** The description of `parsedJson`. An empty schema says the same. Of fields of `llm` blocks, the object around says it. */
const ANY_VALUE = 'Any JSON value.';

/** Larger bounds are not listed. */
const LISTED_MAX = 10_000_000;

/** Wraps the schema of a tool's input so that the SDK lists it but does not validate with it. */
export function listedInput(schema: z.ZodObject) {
  return listed(
    () => shorten(simplify(schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }))) as Schema,
  );
}

/** Wraps the schema of a tool's output, of which the fields of a single type are listed. */
export function listedOutput(schema: z.ZodObject) {
  return listed(() => {
    const { properties = {} } = schema['~standard'].jsonSchema.output({ target: 'draft-2020-12' }) as {
      properties?: { [name: string]: Schema };
    };
    const fields = Object.entries(properties).flatMap(([name, { type }]) =>
      typeof type === 'string' ? [[name, { type }]] : [],
    );
    return { type: 'object', properties: Object.fromEntries(fields) };
  });
}

function listed(make: () => Schema) {
  let made: Schema | undefined;
  const schema = () => {
    made ??= make();
    return made;
  };
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'weir',
      validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
      jsonSchema: { input: schema, output: schema },
    },
  };
}

/** A value of any type is listed as an object. */
const OF_ANY_TYPE = 'Any JSON value, not only an object.';

/** The types of alternatives: the first that there is stands for all. */
const PREFERRED = ['array', 'object', 'string'];

/**
 * Replaces what Gemini and OpenAI refuse in schemas of tools: each schema gets one type, without alternatives. It may then be
 * narrower or wider than the tool: tools validate by their own schema.
 */
function simplify(schema: Schema): Schema {
  const {
    anyOf,
    oneOf,
    const: value,
    type,
    ...rest
  } = schema as Schema & { [union in 'anyOf' | 'oneOf']?: Schema[] };
  const options = (anyOf ?? oneOf)?.filter((option) => option.type !== 'null');
  if (options) return simplify({ ...unite(options), ...rest });
  if (type === undefined && value === undefined) return { ...rest, type: 'object', description: OF_ANY_TYPE };
  const types = [type ?? typeof value].flat() as string[];
  const one = PREFERRED.find((name) => types.includes(name)) ?? types[0];
  const inner = Object.entries(rest).map(([keyword, child]) => {
    if (keyword === 'properties')
      return [
        keyword,
        Object.fromEntries(
          Object.entries(child as Schema).map(([name, each]) => [name, simplify(each as Schema)]),
        ),
      ];
    if (keyword === 'items')
      return [keyword, isEmpty(child) ? { type: 'object' } : simplify(child as Schema)];
    return [keyword, child];
  });
  return { type: one, ...(value !== undefined && { enum: [value] }), ...Object.fromEntries(inner) };
}

/** Returns one schema for alternatives: the fields of all, if they are objects that differ by their `type`. */
function unite(options: Schema[]): Schema {
  const all = options.map((option) => (option.properties ?? {}) as { [name: string]: Schema });
  const names = all.map(({ type }) => type?.const).filter((name) => name !== undefined);
  if (names.length === options.length && names.length > 1)
    return {
      type: 'object',
      properties: { ...Object.assign({}, ...all), type: { type: 'string', enum: names } },
      required: ['type'],
      additionalProperties: false,
    };
  const preferred =
    PREFERRED.flatMap((name) => options.filter(({ type }) => type === name))[0] ?? options[0] ?? {};
  const { enum: values, ...open } = preferred;
  // Numbers may be written as text too.
  return options.some(({ type }) => type === 'integer') ? open : preferred;
}

/**
 * Shortens a schema for `tools/list`, which every client loads with each conversation. Removes the dialect, open schemas,
 * and patterns, length bounds and very large bounds, which errors mention.
 */
function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorten);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([key, item]) =>
          key !== '$schema' &&
          key !== 'propertyNames' &&
          !(/^m(in|ax)Length$/.test(key) && typeof item === 'number') &&
          !(key === 'description' && (item === ANY_VALUE || item === 'llm')) &&
          !(key === 'properties' && isEmpty(item)) &&
          !(key === 'pattern' && typeof item === 'string') &&
          !(key === 'additionalProperties' && isEmpty(shorten(item))) &&
          !(typeof item === 'number' && Math.abs(item) >= LISTED_MAX),
      )
      .map(([key, item]) => [key, shorten(item)]),
  );
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

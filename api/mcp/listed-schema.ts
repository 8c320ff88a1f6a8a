import type { z } from 'zod';

type Schema = { [key: string]: unknown };

/** The description of `parsedJson`. An empty schema says the same. */
const ANY_VALUE = 'Any JSON value.';

/** Wraps the schema of a tool's input so that the SDK lists it but does not validate with it. */
export function listedInput(schema: z.ZodObject) {
  return listed(() => shorten(schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })) as Schema);
}

/** Wraps the schema of a tool's output, of which only field names and types are listed. */
export function listedOutput(schema: z.ZodObject) {
  return listed(() => {
    const { properties = {} } = shorten(
      schema['~standard'].jsonSchema.output({ target: 'draft-2020-12' }),
    ) as { properties?: { [name: string]: Schema } };
    const fields = Object.entries(properties).map(([name, { type }]) => [
      name,
      type === undefined ? {} : { type },
    ]);
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

/**
 * Shortens a schema for `tools/list`, which every client loads with each conversation. Removes the dialect, patterns
 * of known formats, bounds of safe integers, open schemas, titles, and length bounds, which errors mention.
 */
function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorten);
  if (value === null || typeof value !== 'object') return value;
  const isFormat = 'format' in value && typeof value.format === 'string';
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([key, item]) =>
          key !== '$schema' &&
          key !== 'propertyNames' &&
          !(/^m(in|ax)Length$/.test(key) && typeof item === 'number') &&
          !(key === 'description' && item === ANY_VALUE) &&
          !(key === 'pattern' && isFormat) &&
          !(key === 'additionalProperties' && isEmpty(shorten(item))) &&
          Math.abs(Number(item)) !== Number.MAX_SAFE_INTEGER,
      )
      .map(([key, item]) => [key, shorten(item)]),
  );
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

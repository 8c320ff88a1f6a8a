import { z } from 'zod';

type Fields = Record<string, unknown>;

/**
 * Whether a field's null is dropped. A body may have hundreds of thousands of fields, and asking a schema is slow.
 */
const known = new WeakMap<z.core.$ZodType, boolean>();

const TYPES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a JSON object',
  record: 'a JSON object',
  array: 'a list',
  tuple: 'a list',
  null: 'null',
};
const FORMATS: Record<string, string> = {
  uuid: 'a UUID',
  guid: 'a UUID',
  date: 'a date, such as 2026-01-31',
  datetime: 'a time, such as 2026-01-31T12:00:00Z',
};
const UNITS: Record<string, string> = { string: 'character', array: 'item' };

/** For a check of a whole body that only adds to the problems of its fields. */
export const WITH_OTHER_PROBLEMS = {
  when: ({ issues }: z.core.ParsePayload) =>
    issues.some(({ code, path = [] }) => code === 'unrecognized_keys' || path.length > 0),
};

/** Describes what a value must be, for problems without a message in the schema; for unknown fields, lists the absent ones. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type': {
      const type = TYPES[issue.expected];
      return type && `must be ${type}`;
    }
    case 'invalid_value':
      return mustBeOneOf(issue.values);
    case 'invalid_union':
      return Array.isArray(issue.options) ? mustBeOneOf(issue.options) : 'has none of the accepted forms';
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? 'in the documented format'}`;
    case 'too_small':
      if (UNITS[issue.origin] && issue.minimum === 1) return 'must not be empty';
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'unrecognized_keys':
      // For the 422, which says which of these was probably meant.
      return listAbsent(issue).join(', ');
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'is not an accepted key';
    default:
      return undefined;
  }
}

function listAbsent({ inst, input }: z.core.$ZodRawIssue): string[] {
  const { def } = (inst as z.core.$ZodObject)._zod;
  return Object.keys(def.shape).filter((name) => !Object.hasOwn(input as Fields, name));
}

function mustBeOneOf(values: readonly unknown[]): string {
  const [only] = values;
  return values.length === 1 ? `must be ${only}` : `must be one of ${values.join(', ')}`;
}

function bound(origin: string, comparison: string, limit: number | bigint): string {
  const unit = UNITS[origin];
  return unit
    ? `must have ${comparison} ${limit} ${unit}${Number(limit) === 1 ? '' : 's'}`
    : `must be ${comparison} ${limit}`;
}

/**
 * Removes each optional field that is null from parsed JSON, in place: null means the same as leaving the field out.
 * Values that the schema does not describe stay as they are.
 */
export function dropNulls(schema: z.core.$ZodType, json: unknown): void {
  if (typeof json !== 'object' || json === null) return;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      for (const [key, field] of Object.entries<z.core.$ZodType>(def.shape))
        dropField(field, json as Fields, key);
      return;
    case 'array':
      if (Array.isArray(json)) for (const item of json) dropNulls(def.element, item);
      return;
    case 'record':
      for (const value of Object.values(json)) dropNulls(def.valueType, value);
      return;
    case 'union':
      for (const option of def.options) dropNulls(option, json);
      return;
    case 'pipe':
      dropNulls(def.in, json);
      return;
    case 'lazy':
      dropNulls(def.getter(), json);
      return;
    case 'optional':
    case 'nullable':
    case 'default':
    case 'readonly':
      dropNulls(def.innerType, json);
      return;
  }
}

function dropField(field: z.core.$ZodType, json: Fields, key: string): void {
  if (!Object.hasOwn(json, key)) return;
  if (json[key] !== null) dropNulls(field, json[key]);
  else if (isDropped(field)) delete json[key];
}

function isDropped(field: z.core.$ZodType): boolean {
  const dropped = known.get(field) ?? (accepts(field, undefined) && !accepts(field, null));
  known.set(field, dropped);
  return dropped;
}

function accepts(schema: z.core.$ZodType, value: undefined | null): boolean {
  return z.safeParse(schema, value).success;
}

/** Limits the number of entries before they are validated: the error would list every problem of each. */
export function fewEntries<K extends z.core.$ZodRecordKey, V extends z.ZodType>(
  most: number,
  record: z.ZodRecord<K, V>,
) {
  return z.preprocess(
    (value, context) => {
      if (typeof value === 'object' && value !== null && Object.keys(value).length > most)
        context.addIssue(`must have at most ${most} entries`);
      return value;
    },
    record.meta({ maxProperties: most }),
  );
}

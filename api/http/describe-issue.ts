import type { z } from 'zod';

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

/** Describes what a value must be, for problems without a message in the schema. */
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
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'is not an accepted key';
    default:
      return undefined;
  }
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

// The limits of OpenAI's strict mode.
import type { Json } from '../../flow/definition.ts';
import { isObject } from '../../flow/json.ts';

const PROPERTIES_MAX = 5_000;
/** The most parts of a schema that lie inside one another. */
export const LEVELS_MAX = 10;
/** Names of properties and definitions, and values of `enum` and `const`, together. */
const TEXT_MAX_LENGTH = 120_000;
const ENUM_VALUES_MAX = 1_000;
/** An enum of more texts has a limit of its own for their length together. */
const SHORT_ENUM_VALUES = 250;
const LONG_ENUM_MAX_LENGTH = 15_000;

/** Whether a schema of the keywords of strict mode is larger than strict mode takes. Its levels are not counted. */
export function exceedsStrictLimits(schema: Json): boolean {
  const sum = { properties: 0, values: 0, length: 0 };
  return (
    add(schema, sum) ||
    sum.properties > PROPERTIES_MAX ||
    sum.values > ENUM_VALUES_MAX ||
    sum.length > TEXT_MAX_LENGTH
  );
}

/** Adds up the sizes of a schema; returns whether one of its enums is too long. */
function add(schema: Json | undefined, sum: { properties: number; values: number; length: number }): boolean {
  if (!isObject(schema)) return false;
  const { properties = {}, $defs = {}, items, anyOf = [], enum: values = [], const: value } = schema;
  const names = [...Object.keys(properties as object), ...Object.keys($defs as object)];
  const texts = [...(values as Json[]), value].filter((text) => typeof text === 'string');
  const length = lengthOf(texts);
  sum.properties += Object.keys(properties as object).length;
  sum.values += (values as Json[]).length;
  sum.length += lengthOf(names) + length;
  const parts = [properties, $defs, anyOf, [items]].flatMap((part) => Object.values(part as object));
  return (
    (texts.length > SHORT_ENUM_VALUES && length > LONG_ENUM_MAX_LENGTH) ||
    parts.some((part) => add(part, sum))
  );
}

function lengthOf(texts: string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

import type { Json } from '../../flow/definition.ts';
import { invalidSchema } from './invalid-schema.ts';

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/** Names of other languages, by the type that is meant; `any` means none. */
const MEANT = new Map(
  Object.entries({
    integer: 'int int32 int64 long short',
    number: 'float double decimal',
    string: 'str text date datetime date-time uuid email url file binary',
    boolean: 'bool',
    object: 'dict map record struct',
    array: 'list tuple set',
    null: 'none nil undefined',
    any: 'any mixed unknown',
  }).flatMap(([type, names]) => names.split(' ').map((name) => [name, type] as const)),
);

/**
 * Reads the value of `type`, in the capitals of Google too; a value that is neither a text nor a list is returned as it is.
 * Throws SCHEMA_INVALID for an unknown type, with the one that may be meant.
 */
export function readType(type: Json, path: string): Json {
  if (Array.isArray(type)) return [...new Set(type.map((one, index) => readType(one, `${path}/${index}`)))];
  if (typeof type !== 'string' || TYPES.includes(type)) return type;
  const lower = type.toLowerCase();
  if (TYPES.includes(lower)) return lower;
  const meant = MEANT.get(lower);
  const advice = meant === 'any' ? 'leave type out to take any value' : meant && `write ${meant}`;
  const shown = JSON.stringify(type.slice(0, 64));
  throw invalidSchema(path, `${shown} is no type: ${advice ?? `the types are ${TYPES.join(', ')}`}`);
}

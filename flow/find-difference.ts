// JSON values: pointers, differences, canonical text.
import type { Json } from './definition.ts';
import { extendPointer } from './extend-pointer.ts';

/** `path` is a JSON Pointer, '' for the whole value; a side without a value there is undefined. */
type Difference = { path: string; expected: Json | undefined; actual: Json | undefined };

/**
 * Finds the first place where two JSON values differ, ignoring the order of keys; undefined when they are equal. It looks at
 * nothing after that place: either value may be large.
 */
export function findDifference(expected: Json | undefined, actual: Json | undefined): Difference | undefined {
  if (!isContainer(expected) || !isContainer(actual) || Array.isArray(expected) !== Array.isArray(actual))
    return expected === actual ? undefined : { path: '', expected, actual };
  for (const key of keysOf(expected, actual)) {
    const difference = findDifference(valueAt(expected, key), valueAt(actual, key));
    if (difference) return { ...difference, path: extendPointer('', String(key)) + difference.path };
  }
  return undefined;
}

type Container = { [key: string | number]: Json };

/** Lists the indices or keys of both, those of `expected` first. */
function* keysOf(expected: Container, actual: Container): Generator<string | number> {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length);
    for (let index = 0; index < length; index++) yield index;
    return;
  }
  yield* Object.keys(expected);
  for (const key of Object.keys(actual)) if (!Object.hasOwn(expected, key)) yield key;
}

function isContainer(value: Json | undefined): value is Container {
  return typeof value === 'object' && value !== null;
}

function valueAt(container: Container, key: string | number): Json | undefined {
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

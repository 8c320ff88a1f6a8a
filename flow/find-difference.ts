import type { Json } from './definition.ts';
import { extendPointer } from './extend-pointer.ts';

/** `path` is a JSON Pointer, '' for the whole value; a side without a value there is undefined. */
type Difference = { path: string; expected: Json | undefined; actual: Json | undefined };

/** Finds the first place where two JSON values differ, ignoring the order of keys; undefined when they are equal. */
export function findDifference(
  expected: Json | undefined,
  actual: Json | undefined,
  path = '',
): Difference | undefined {
  if (!isContainer(expected) || !isContainer(actual) || Array.isArray(expected) !== Array.isArray(actual))
    return expected === actual ? undefined : { path, expected, actual };
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const place = extendPointer(path, key);
    const difference = findDifference(valueAt(expected, key), valueAt(actual, key), place);
    if (difference) return difference;
  }
  return undefined;
}

type Container = { [key: string]: Json };

function isContainer(value: Json | undefined): value is Container {
  return typeof value === 'object' && value !== null;
}

function valueAt(container: Container, key: string): Json | undefined {
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

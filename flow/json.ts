// JSON values: pointers, differences, canonical text.
import type { Json } from './definition.ts';

/**
 * Whether a member may reach the prototype of objects: refused from callers, and never given to callers in what they send back.
 * All other keys, such as `constructor` and `toString`, are like any other.
 */
export function isRefusedMember(key: string, value: unknown): boolean {
  return (
    key === '__proto__' || (key === 'constructor' && isObject(value) && Object.hasOwn(value, 'prototype'))
  );
}

/** Finds the keys that lead to the first such member of a value whose depth is bounded; undefined when it has none. */
export function findRefusedMember(value: unknown): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    if (isRefusedMember(key, child)) return [key];
    const path = findRefusedMember(child);
    if (path) return [key, ...path];
  }
  return undefined;
}

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

/** Returns the JSON Pointer to a member of the value at `path`. */
export function extendPointer(path: string, key: string): string {
  return `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the value at a JSON Pointer; undefined when there is none. */
export function followPointer(json: Json, pointer: string): Json | undefined {
  let value: Json | undefined = json;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as { [key: string]: Json })[key];
  }
  return value;
}

/** Serializes JSON with the keys of every object sorted, so that equal values have equal digests. */
export function canonicalJson(json: unknown): string {
  return JSON.stringify(json, (_, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** Tells whether a value that was parsed as JSON is an object. */
export function isObject(json: unknown): json is { [key: string]: Json } {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

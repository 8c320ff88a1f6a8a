import type { Json } from './definition.ts';

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

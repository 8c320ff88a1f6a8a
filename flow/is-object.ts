import type { Json } from './definition.ts';

/** Tells whether a value that was parsed as JSON is an object. */
export function isObject(json: unknown): json is { [key: string]: Json } {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

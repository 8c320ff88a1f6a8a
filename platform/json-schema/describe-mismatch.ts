import type { SchemaProblem } from './compile-schema.ts';

/** Says what is wrong in a value that does not match its JSON Schema, and where. */
export function describeMismatch({ path, message }: SchemaProblem): string {
  return `${path || 'the value'} ${message}`;
}

import { createSharedCache } from '../limits/shared-cache.ts';
import { type CompiledSchema, compileSchema } from './compile-schema.ts';
import { COMPILED_MAX, COMPILED_MAX_LENGTH } from './limits.ts';

/** A short one takes memory, too. */
const LENGTH_MIN = Math.floor(COMPILED_MAX_LENGTH / COMPILED_MAX);

/** Creates the function that compiles a schema, given as its text, or takes it from a cache that organizations share. */
export function createCompiledSchemas(): (organization: string, text: string) => CompiledSchema {
  const cache = createSharedCache<CompiledSchema>(COMPILED_MAX_LENGTH);
  return function getCompiled(organization, text) {
    const known = cache.get(text);
    if (known) return known;
    const compiled = compileSchema(JSON.parse(text));
    cache.set(organization, text, compiled, Math.max(text.length, LENGTH_MIN));
    return compiled;
  };
}

import type { Json } from '../../flow/definition.ts';

export const REFERENCE_KEYWORDS = ['$ref', '$dynamicRef', '$recursiveRef'];
/** Keywords whose values are not schemas. */
export const VALUE_KEYWORDS = ['const', 'enum', 'default', 'examples'];
/** Keywords whose values are maps, in which these are names like any other; the others hold schemas or lists of them. */
export const MAP_KEYWORDS = [
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
  'dependentRequired',
];

/** Returns the dialect of a schema that names a known one or none. */
export function dialectOf(schema: Json): 'draft-07' | '2020-12' {
  return String(Object(schema).$schema).includes('draft-07') ? 'draft-07' : '2020-12';
}

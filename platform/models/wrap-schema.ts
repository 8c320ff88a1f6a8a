// Puts a schema whose root is not an object into one whose root is: providers take no other in their own format.
import type { Json, JsonSchema } from '../../flow/definition.ts';
import { isObject } from '../../flow/json.ts';
import { MAP_KEYWORDS } from '../json-schema/estimate-steps.ts';
import { UNINSPECTED } from '../json-schema/require-usable-schema.ts';

/** The one property of a wrapped answer. */
export const WRAPPED = 'value';

/** Keywords that name a schema, or refer to one by its name. Providers do not know them. */
const NAMING = ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef'];

type Keywords = { [keyword: string]: Json };

/**
 * Returns a schema of objects with the one property `value`, which has the given schema. Definitions move to the new root, and
 * references lead where they did before. Returns undefined when the result could mean something else.
 */
export function wrapSchema(schema: JsonSchema): JsonSchema | undefined {
  if (!isObject(schema)) return undefined;
  const { $schema, $defs, definitions, ...root } = schema as Keywords;
  // References are local, so none needs the name of the whole schema.
  if (typeof root.$id === 'string' && !root.$id.startsWith('#')) delete root.$id;
  const self = freeName($defs);
  const references = createMover(`#/$defs/${self}`);
  const moved = references.move(root);
  const hoisted = {
    ...($defs !== undefined && { $defs: references.move($defs, true) }),
    ...(definitions !== undefined && { definitions: references.move(definitions, true) }),
  };
  if (references.lost) return undefined;
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    properties: { [WRAPPED]: references.toRoot ? { $ref: `#/$defs/${self}` } : moved },
    required: [WRAPPED],
    additionalProperties: false,
    ...hoisted,
    ...(references.toRoot && { $defs: { ...(hoisted.$defs as Keywords), [self]: moved } }),
  };
}

function freeName(taken: Json = {}): string {
  let name = WRAPPED;
  while (Object.hasOwn(Object(taken), name)) name = `_${name}`;
  return name;
}

/** Creates a function that copies a schema with its references to the root, or into it, led to `root` instead. */
function createMover(root: string) {
  const references = {
    /** Whether a reference leads to the root or into it, but not to definitions. */
    toRoot: false,
    /** Whether a reference may lead elsewhere after the move. */
    lost: false,
    move(value: Json, isMap = false): Json {
      if (Array.isArray(value)) return value.map((child) => references.move(child));
      if (!isObject(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([keyword, child]) => {
          if (isMap) return [keyword, references.move(child)];
          if (NAMING.includes(keyword)) references.lost = true;
          if (UNINSPECTED.includes(keyword)) return [keyword, child];
          if (keyword === '$ref' && typeof child === 'string') return [keyword, moveReference(child)];
          return [keyword, references.move(child, MAP_KEYWORDS.includes(keyword))];
        }),
      );
    },
  };
  function moveReference(reference: string): string {
    const [start, first = '', ...rest] = reference.split('/');
    // References by name need a keyword that names; values may hold what only a reference makes a schema.
    if (start !== '#' || first.includes('%') || leadsIntoValue([first, ...rest])) references.lost = true;
    if (['$defs', 'definitions'].includes(first)) return reference;
    references.toRoot = true;
    return root + reference.slice(1);
  }
  return references;
}

function leadsIntoValue(keys: string[]): boolean {
  let isName = false;
  for (const key of keys) {
    if (!isName && UNINSPECTED.includes(key)) return true;
    isName = !isName && MAP_KEYWORDS.includes(key);
  }
  return false;
}

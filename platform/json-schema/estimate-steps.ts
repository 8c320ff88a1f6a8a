// Estimates how much work a schema can ask for: references multiply, and a few KB can mean 2^59 steps.
import type { Json } from '../../flow/definition.ts';
import { followPointer, isObject } from '../../flow/json.ts';

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

/** The problem of a schema that is applied to the same value again and again. */
export const ENDLESS = 'it refers to itself without end';

type Node = { [keyword: string]: Json };

/** Keywords whose schemas are applied to the same value, one after the other. */
const IN_PLACE = [...REFERENCE_KEYWORDS, 'not', 'if', 'then', 'else'];
const IN_PLACE_MAPS = ['dependentSchemas', 'dependencies'];
const IN_PLACE_GROUPS = ['allOf', 'anyOf', 'oneOf', ...IN_PLACE_MAPS];
/** Those of them that apply to every value. */
const ALWAYS_IN_PLACE = [...REFERENCE_KEYWORDS, 'not'];
/** Keywords whose schemas are applied to parts of the value; several may be applied to the same part. */
const WITHIN = [
  'items',
  'contains',
  'additionalItems',
  'additionalProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
];
/** Keywords whose schemas are each applied to a different part. */
const APART = ['properties', 'prefixItems', 'items'];

/**
 * Counts the schemas applied along the longest path into a value, up to `maximum`. Recursion into deeper values is not counted,
 * since its cost depends on the value. Recursion at the same value never ends, and counts as Infinity.
 */
export function estimateSteps(schema: Json, maximum: number): number {
  const resources = findResources(schema);
  const isDraft07 = dialectOf(schema) === 'draft-07';
  const known = new Map<Node, number>();
  let refers = false;

  function steps(value: Json | undefined): number {
    if (!isObject(value)) return 0;
    const before = known.get(value);
    if (before !== undefined) return before;
    // 0 until it is known, so that a reference back to here is not followed.
    known.set(value, 0);
    let total = 1;
    for (const keyword of IN_PLACE) total += steps(follow(value, keyword));
    for (const keyword of IN_PLACE_GROUPS) total += stepsOfAll(value[keyword]);
    for (const keyword of WITHIN) total += steps(value[keyword]);
    total += stepsOfAll(value.patternProperties);
    for (const keyword of APART)
      if (keyword !== 'items' || !isObject(value.items)) total += most(value[keyword]);
    known.set(value, Math.min(total, maximum));
    return Math.min(total, maximum);
  }

  function stepsOfAll(value: Json | undefined): number {
    let total = 0;
    for (const child of children(value)) total += steps(child);
    return total;
  }

  const most = (value: Json | undefined): number => Math.max(0, ...children(value).map(steps));

  /** Returns the schema of a keyword, or the target of its reference. */
  function follow(node: Node, keyword: string): Json | undefined {
    const value = node[keyword];
    if (!keyword.startsWith('$') || typeof value !== 'string') return value;
    refers = true;
    const target = decodeFragment(value.slice(1));
    const { base, anchors } = resources.get(node) ?? { base: schema, anchors: new Map<string, Json>() };
    return target === '' || target.startsWith('/') ? followPointer(base, target) : anchors.get(target);
  }

  /** `all`: schemas that are applied to every value that this one is applied to; `either`: schemas of which one is applied. */
  function listApplied(node: Node): { all: (Json | undefined)[]; either: (Json | undefined)[] } {
    const all = [
      ...ALWAYS_IN_PLACE.map((keyword) => follow(node, keyword)),
      ...children(node.allOf),
      // Draft 2020-12 looks at all of these, to know which parts of the value they evaluate.
      ...children(node.anyOf).slice(0, isDraft07 ? 1 : undefined),
      ...children(node.oneOf),
      ...('then' in node || 'else' in node ? [node.if] : []),
    ];
    if (node.if === undefined) return { all, either: [] };
    const always = verdictOf(node.if);
    const either = [...(always === false ? [] : [node.then]), ...(always === true ? [] : [node.else])];
    return { all, either };
  }

  const total = steps(schema);
  // Without a reference, no schema leads back to itself.
  if (!refers) return total;
  return listEnding([...known.keys()], listApplied).size < known.size ? Number.POSITIVE_INFINITY : total;
}

/** Lists the schemas whose evaluation ends for some value, because all schemas applied with them end. */
function listEnding(
  nodes: Node[],
  listApplied: (node: Node) => { all: (Json | undefined)[]; either: (Json | undefined)[] },
): Set<Node> {
  const applied = new Map(nodes.map((node) => [node, listApplied(node)]));
  const waiting = new Map<Node, Node[]>();
  for (const [node, { all, either }] of applied)
    for (const needed of [...all, ...either].filter(isObject))
      waiting.get(needed)?.push(node) ?? waiting.set(needed, [node]);
  const ending = new Set<Node>();
  const ends = (value: Json | undefined): boolean => !isObject(value) || ending.has(value);
  const open = [...nodes];
  for (let node = open.pop(); node; node = open.pop()) {
    const { all = [], either = [] } = applied.get(node) ?? {};
    if (ending.has(node) || !all.every(ends) || !(either.length === 0 || either.some(ends))) continue;
    ending.add(node);
    open.push(...(waiting.get(node) ?? []));
  }
  return ending;
}

/** Returns what a schema says of all values; undefined where that may depend on the value. */
function verdictOf(schema: Json | undefined): boolean | undefined {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return undefined;
  const [keyword, ...others] = Object.keys(schema);
  if (keyword === undefined) return true;
  const denied = keyword === 'not' && others.length === 0 ? verdictOf(schema.not) : undefined;
  return denied === undefined ? undefined : !denied;
}

const NONE: Json[] = [];

/** Lists the members of a list or map. */
function children(value: Json | undefined): Json[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : NONE;
}

/** Decodes the fragment of a reference; returns it as it is when it cannot be decoded. */
export function decodeFragment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A schema resource: the schema that `#` means within it, and the schemas that it has names for. */
type SchemaResource = { base: Node; anchors: Map<string, Json> };

/** Finds the resource that each schema is in: an `$id` inside another schema begins a new one. */
function findResources(
  schema: Json,
  resources = new Map<Node, SchemaResource>(),
  around?: SchemaResource,
  isMap = false,
): Map<Node, SchemaResource> {
  if (!isObject(schema)) {
    for (const child of children(schema)) findResources(child, resources, around);
    return resources;
  }
  const isBase = !around || (typeof schema.$id === 'string' && !schema.$id.startsWith('#'));
  const resource = isBase ? { base: schema, anchors: new Map<string, Json>() } : around;
  resources.set(schema, resource);
  for (const [keyword, value] of Object.entries(schema)) {
    if (typeof value === 'string' && ['$anchor', '$dynamicAnchor', '$id'].includes(keyword))
      resource.anchors.set(value.replace(/^#/, ''), schema);
    if (isMap || !VALUE_KEYWORDS.includes(keyword))
      findResources(value, resources, resource, !isMap && MAP_KEYWORDS.includes(keyword));
  }
  return resources;
}

/** Returns the dialect of a schema that names a known one or none. */
export function dialectOf(schema: Json): 'draft-07' | '2020-12' {
  return String(Object(schema).$schema).includes('draft-07') ? 'draft-07' : '2020-12';
}

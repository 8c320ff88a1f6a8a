// Estimates how much work a schema can ask for: references multiply, and a few KB can mean 2^59 steps.
import type { Json } from '../flow/definition.ts';

/** The problem of a schema that is applied to the same value again and again. */
export const ENDLESS = 'it refers to itself without end';

type Node = { [keyword: string]: Json };

/** Keywords whose schemas are applied to the same value, one after the other. */
const IN_PLACE = ['$ref', '$dynamicRef', '$recursiveRef', 'not', 'if', 'then', 'else'];
const IN_PLACE_LISTS = ['allOf', 'anyOf', 'oneOf'];
const IN_PLACE_MAPS = ['dependentSchemas', 'dependencies'];
/** Those of them that apply to every value. */
const ALWAYS_IN_PLACE = ['$ref', '$dynamicRef', '$recursiveRef', 'not'];
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
 * Counts the most schemas that are applied along one path into a value, up to `maximum`. Recursion is not counted, since its
 * cost depends on the depth of the value; one that stays at the same value never ends, and counts as Infinity.
 */
export function estimateSteps(schema: Json, maximum: number): number {
  const anchors = findAnchors(schema);
  const known = new Map<Node, number>();

  function steps(value: Json | undefined): number {
    if (!isNode(value)) return 0;
    const before = known.get(value);
    if (before !== undefined) return before;
    // 0 until it is known, so that a reference back to here is not followed.
    known.set(value, 0);
    const inPlace = [
      ...IN_PLACE.map((keyword) => steps(follow(keyword, value[keyword]))),
      ...[...IN_PLACE_LISTS, ...IN_PLACE_MAPS].flatMap((keyword) => children(value[keyword]).map(steps)),
    ];
    const within = [
      ...WITHIN.map((keyword) => steps(value[keyword])),
      ...children(value.patternProperties).map(steps),
      ...APART.map((keyword) => (isNode(value[keyword]) && keyword === 'items' ? 0 : most(value[keyword]))),
    ];
    const total = [...inPlace, ...within].reduce((sum, count) => sum + count, 1);
    known.set(value, Math.min(total, maximum));
    return Math.min(total, maximum);
  }

  const most = (value: Json | undefined): number => Math.max(0, ...children(value).map(steps));

  function follow(keyword: string, value: Json | undefined): Json | undefined {
    if (!keyword.startsWith('$') || typeof value !== 'string') return value;
    const target = decode(value.slice(1));
    return target === '' || target.startsWith('/') ? at(schema, target) : anchors.get(target);
  }

  const open = new Set<Node>();
  const ends = new Set<Json>();
  /** Whether applying a schema to a value leads to applying it to the same value again. */
  function isEndless(value: Json | undefined): boolean {
    if (!isNode(value) || ends.has(value)) return false;
    if (open.has(value)) return true;
    open.add(value);
    const inPlace = [
      ...ALWAYS_IN_PLACE.map((keyword) => follow(keyword, value[keyword])),
      ...children(value.allOf),
      // Of these, the first is always looked at, or the first two, since only one may hold.
      ...children(value.anyOf).slice(0, 1),
      ...children(value.oneOf).slice(0, 2),
      ...('then' in value || 'else' in value ? [value.if] : []),
    ];
    const found = inPlace.some(isEndless);
    open.delete(value);
    ends.add(value);
    return found;
  }

  const total = steps(schema);
  return [...known.keys()].some(isEndless) ? Number.POSITIVE_INFINITY : total;
}

function isNode(value: Json | undefined): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lists the members of a list or map. */
function children(value: Json | undefined): Json[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

/** Finds the value at a JSON Pointer; undefined when there is none. */
function at(schema: Json, pointer: string): Json | undefined {
  let place: Json | undefined = schema;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    place = typeof place === 'object' && place !== null ? (place as Node)[key] : undefined;
  }
  return place;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function findAnchors(schema: Json, found = new Map<string, Json>()): Map<string, Json> {
  if (isNode(schema))
    for (const [keyword, value] of Object.entries(schema))
      if (typeof value === 'string' && ['$anchor', '$dynamicAnchor', '$id'].includes(keyword))
        found.set(value.replace(/^#/, ''), schema);
  for (const child of children(schema)) findAnchors(child, found);
  return found;
}

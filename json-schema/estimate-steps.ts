// How much work a schema can ask for: references multiply, and a few KB can hold 2^59 steps.
import type { Json } from '../flow/definition.ts';

type Node = { [keyword: string]: Json };

/** Their schemas are applied to the same value, one after the other. */
const IN_PLACE = ['$ref', '$dynamicRef', '$recursiveRef', 'not', 'if', 'then', 'else'];
const IN_PLACE_LISTS = ['allOf', 'anyOf', 'oneOf'];
const IN_PLACE_MAPS = ['dependentSchemas', 'dependencies'];
/** Their schemas are applied to what the value holds; of several, all may be to the same part of it. */
const WITHIN = [
  'items',
  'contains',
  'additionalItems',
  'additionalProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
];
/** Of these each is applied to another part. */
const APART = ['properties', 'prefixItems', 'items'];

/**
 * The most schemas that are applied along one path into a value, or `maximum` when there are more. What a schema that
 * contains itself adds depends on how deep the value is, and is not counted.
 */
export function estimateSteps(schema: Json, maximum: number): number {
  const anchors = findAnchors(schema);
  const known = new Map<Node, number>();

  function steps(value: Json | undefined): number {
    if (!isNode(value)) return 0;
    const before = known.get(value);
    if (before !== undefined) return before;
    // Until it is known: what leads back here is not followed.
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

  return steps(schema);
}

function isNode(value: Json | undefined): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a list or a map holds. */
function children(value: Json | undefined): Json[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

/** What a JSON Pointer leads to; undefined when nothing is there. */
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

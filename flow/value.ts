// How outputs travel through a workflow: small ones as they are, large ones by reference, so that no history grows.
import type { Json } from './definition.ts';

/** The reference of a run's message, beside those of block outputs (`blockKey`). */
export const MESSAGE_REF = '$message';
/** The reference of the input that a continuation of a run starts with. */
export const INPUT_REF = '$input';

/**
 * One stored value: `ref` names the output it comes from, `at` the items picked from it in turn. `json` is a copy,
 * present while it is small.
 */
export type Leaf = { ref: string; at?: number[]; json?: Json };

/** A stored value, or a composition of stored values: a loop's outputs, a parallel step's outputs by branch. */
export type Value = Leaf | { items: Value[] } | { branches: { [branch: string]: Value } };

/** A value longer than this, serialized, travels by reference only. */
export const INLINE_MAX_CHARS = 2_048;
/** A composition longer than this, serialized, loses its inline copies. */
export const COMPOSITION_MAX_CHARS = 32_768;

/** A leaf for `json`, with the inline copy when it is small. */
export function toLeaf(ref: string, json: Json): Leaf {
  return JSON.stringify(json).length <= INLINE_MAX_CHARS ? { ref, json } : { ref };
}

export function isLeaf(value: Value): value is Leaf {
  return 'ref' in value;
}

/** The number of items of an array value; undefined when it is no array, `unknown` when only the store can tell. */
export function countItems(value: Value): number | undefined | 'unknown' {
  if ('items' in value) return value.items.length;
  if ('branches' in value) return undefined;
  if (value.json === undefined) return 'unknown';
  return Array.isArray(value.json) ? value.json.length : undefined;
}

/** Item `index` of a value known to be an array that long. */
export function itemOf(value: Value, index: number): Value {
  if ('items' in value) return value.items[index] as Value;
  const leaf = value as Leaf;
  const at = [...(leaf.at ?? []), index];
  const json = Array.isArray(leaf.json) ? leaf.json[index] : undefined;
  return json === undefined ? { ref: leaf.ref, at } : { ref: leaf.ref, at, json };
}

/** The same value, without inline copies when it has grown longer than `maxChars`. */
export function compact(value: Value, maxChars = COMPOSITION_MAX_CHARS): Value {
  return JSON.stringify(value).length <= maxChars ? value : dropCopies(value);
}

function dropCopies(value: Value): Value {
  if ('items' in value) return { items: value.items.map(dropCopies) };
  if ('branches' in value) return { branches: mapValues(value.branches, dropCopies) };
  return value.at ? { ref: value.ref, at: value.at } : { ref: value.ref };
}

/** The JSON a value stands for; `load` fetches the output a leaf without a copy refers to. */
export async function resolveValue(value: Value, load: (ref: string) => Promise<Json>): Promise<Json> {
  if ('items' in value) return Promise.all(value.items.map((item) => resolveValue(item, load)));
  if ('branches' in value) {
    const entries = Object.entries(value.branches);
    const resolved = await Promise.all(entries.map(([, branch]) => resolveValue(branch, load)));
    return Object.fromEntries(entries.map(([name], index) => [name, resolved[index] as Json]));
  }
  if (value.json !== undefined) return value.json;
  let json = await load(value.ref);
  for (const index of value.at ?? []) json = (json as Json[])[index] as Json;
  return json;
}

function mapValues<T, U>(record: { [key: string]: T }, map: (value: T) => U): { [key: string]: U } {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

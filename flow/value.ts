// How outputs travel through a workflow: small ones as they are, large ones by reference, so that no history grows.
import type { Json } from './definition.ts';

/** The reference of a run's message, beside those of block outputs (`blockKey`). */
export const MESSAGE_REF = '$message';
/** The reference of the input that a continuation of a run starts with. */
export const INPUT_REF = '$input';

/**
 * One stored value: `ref` names the output it comes from, `at` the items picked from it in turn. `json` is a copy,
 * present while it is small. `bytes`: of the whole output as JSON; absent for a run's message or input, and in runs that
 * began before outputs were measured.
 */
export type Leaf = { ref: string; at?: number[]; json?: Json; bytes?: number };

/** What is stored under a reference; `bytes` as JSON. */
export type Stored = { json: Json; bytes: number };
/** Reads what references stand for, all at once. */
export type Load = (refs: string[]) => Promise<Map<string, { json: Json }>>;

/** A stored value, or a composition of stored values: a loop's outputs, a parallel step's outputs by branch. */
export type Value = Leaf | { items: Value[] } | { branches: { [branch: string]: Value } };

/** A value longer than this, serialized, travels by reference only. */
export const INLINE_MAX_BYTES = 2_048;
/** A composition longer than this, serialized, loses its inline copies. */
export const COMPOSITION_MAX_CHARS = 32_768;

/** A leaf for `json`, which has so many bytes serialized, with the inline copy when it is small. */
export function toLeaf(ref: string, json: Json, bytes: number): Leaf {
  return bytes <= INLINE_MAX_BYTES ? { ref, json, bytes } : { ref, bytes };
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
  return { ...withoutCopy(leaf), at, ...(json !== undefined && { json }) };
}

/** Bytes of the JSON that a composition of outputs stands for, before anybody builds it; what is not measured counts 0. */
export function sizeOf(value: Value): number {
  if ('items' in value) return value.items.reduce((sum, item) => sum + 1 + sizeOf(item), 1);
  if (!('branches' in value)) return value.at ? 0 : (value.bytes ?? 0);
  const branches = Object.entries(value.branches);
  return branches.reduce((sum, [name, branch]) => sum + name.length + 4 + sizeOf(branch), 1);
}

/** Bytes of the stored outputs that are read to build a value. */
export function bytesToLoad(value: Value): number {
  if ('items' in value) return value.items.reduce((sum, item) => sum + bytesToLoad(item), 0);
  if ('branches' in value)
    return Object.values(value.branches).reduce((sum, branch) => sum + bytesToLoad(branch), 0);
  return value.json === undefined ? (value.bytes ?? 0) : 0;
}

/** The same value, without inline copies when it has grown longer than `maxChars`. */
export function compact(value: Value, maxChars = COMPOSITION_MAX_CHARS): Value {
  return JSON.stringify(value).length <= maxChars ? value : dropCopies(value);
}

function dropCopies(value: Value): Value {
  if ('items' in value) return { items: value.items.map(dropCopies) };
  if ('branches' in value) return { branches: mapValues(value.branches, dropCopies) };
  return withoutCopy(value);
}

function withoutCopy({ json: _, ...leaf }: Leaf): Leaf {
  return leaf;
}

/** The JSON a value stands for; `load` fetches the outputs that leaves without a copy refer to. */
export async function resolveValue(value: Value, load: Load): Promise<Json> {
  const refs = [...new Set(listRefs(value))];
  return build(value, refs.length > 0 ? await load(refs) : new Map());
}

function listRefs(value: Value): string[] {
  if ('items' in value) return value.items.flatMap(listRefs);
  if ('branches' in value) return Object.values(value.branches).flatMap(listRefs);
  return value.json === undefined ? [value.ref] : [];
}

function build(value: Value, stored: Map<string, { json: Json }>): Json {
  if ('items' in value) return value.items.map((item) => build(item, stored));
  if ('branches' in value) return mapValues(value.branches, (branch) => build(branch, stored));
  if (value.json !== undefined) return value.json;
  let json = stored.get(value.ref)?.json as Json;
  for (const index of value.at ?? []) json = (json as Json[])[index] as Json;
  return json;
}

function mapValues<T, U>(record: { [key: string]: T }, map: (value: T) => U): { [key: string]: U } {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

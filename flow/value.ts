// Outputs as they travel through a workflow: small ones inline, large ones by reference, so that histories stay small.
import type { Json } from './definition.ts';

/** The reference of a run's message; block outputs have their `blockKey`. */
export const MESSAGE_REF = '$message';
/** The reference of the input with which a later call of a run starts. */
export const INPUT_REF = '$input';

/**
 * One stored value: `ref` names the output it comes from, `at` the items picked from it in turn. `json` is an inline copy of
 * a small value. `bytes` is what the whole output counts as: its size as JSON, or more where it has many values, and
 * then `exactBytes` is its size. Both are absent for a run's message or input.
 */
export type Leaf = { ref: string; at?: number[]; json?: Json; bytes?: number; exactBytes?: number };

/** A value stored under a reference; `bytes` is its size as JSON. */
export type Stored = { json: Json; bytes: number };
/** Reads the values of several references at once. */
export type Load = (refs: string[]) => Promise<Map<string, { json: Json }>>;

/** The JSON text of a stored value; `bytes` is its size. */
export type StoredText = { text: string; bytes: number };
/** Reads the JSON texts of several references at once. */
type LoadTexts = (refs: string[]) => Promise<Map<string, { text: string }>>;

/** A stored value, or a composition of stored values: a loop's outputs, a parallel step's outputs by branch. */
export type Value = Leaf | { items: Value[] } | { branches: { [branch: string]: Value } };

/** A value longer than this, serialized, travels by reference only. */
export const INLINE_MAX_BYTES = 2_048;
/** A composition longer than this, serialized, loses its inline copies. */
export const COMPOSITION_MAX_CHARS = 32_768;

/**
 * Makes a leaf for `json`, which has `bytes` bytes serialized and counts as `weight`, with an inline copy when it is there and
 * small.
 */
export function toLeaf(ref: string, json: Json | undefined, bytes: number, weight = bytes): Leaf {
  const size = weight > bytes ? { bytes: weight, exactBytes: bytes } : { bytes };
  return json !== undefined && bytes <= INLINE_MAX_BYTES ? { ref, json, ...size } : { ref, ...size };
}

export function isLeaf(value: Value): value is Leaf {
  return 'ref' in value;
}

/** Counts the items of an array value; undefined for other values, `unknown` if only a read of the stored value can count them. */
export function countItems(value: Value): number | undefined | 'unknown' {
  if ('items' in value) return value.items.length;
  if ('branches' in value) return undefined;
  if (value.json === undefined) return 'unknown';
  return Array.isArray(value.json) ? value.json.length : undefined;
}

/** Returns item `index` of a value that is known to be an array of that length. */
export function itemOf(value: Value, index: number): Value {
  if ('items' in value) return value.items[index] as Value;
  const leaf = value as Leaf;
  const at = [...(leaf.at ?? []), index];
  const json = Array.isArray(leaf.json) ? leaf.json[index] : undefined;
  return { ...withoutCopy(leaf), at, ...(json !== undefined && { json }) };
}

/**
 * Returns about what a composition of outputs counts as before it is built; parts that were not measured count 0, and names
 * of branches their characters. Workflows decide by it, so it stays as it is.
 */
export function sizeOf(value: Value): number {
  if ('items' in value) return value.items.reduce((sum, item) => sum + 1 + sizeOf(item), 1);
  if (!('branches' in value)) return value.at ? 0 : (value.bytes ?? 0);
  const branches = Object.entries(value.branches);
  return branches.reduce((sum, [name, branch]) => sum + name.length + 4 + sizeOf(branch), 1);
}

/** Returns the bytes of the stored outputs that are read to build a value. */
export function bytesToLoad(value: Value): number {
  if ('items' in value) return value.items.reduce((sum, item) => sum + bytesToLoad(item), 0);
  if ('branches' in value)
    return Object.values(value.branches).reduce((sum, branch) => sum + bytesToLoad(branch), 0);
  return value.json === undefined ? (value.bytes ?? 0) : 0;
}

/** Lists the references that are read to build a value and were not measured, which `bytesToLoad` counts as 0. */
export function listUnmeasured(value: Value): string[] {
  if ('items' in value) return value.items.flatMap(listUnmeasured);
  if ('branches' in value) return Object.values(value.branches).flatMap(listUnmeasured);
  return value.json === undefined && value.bytes === undefined ? [value.ref] : [];
}

/** Returns the same value, without inline copies if it is longer than `maxChars` serialized. */
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

/** Resolves a value to its JSON; `load` reads the outputs of leaves without an inline copy. */
export async function resolveValue(value: Value, load: Load): Promise<Json> {
  const refs = [...new Set(listRefs(value))];
  return build(value, refs.length > 0 ? await load(refs) : new Map());
}

/** Resolves a value to its JSON as text, without parsing the outputs whose text `load` reads. */
export async function resolveText(value: Value, load: LoadTexts): Promise<string> {
  const refs = [...new Set(listRefs(value))];
  return write(value, refs.length > 0 ? await load(refs) : new Map());
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
  return itemAt(stored.get(value.ref)?.json as Json, value.at);
}

function write(value: Value, stored: Map<string, { text: string }>): string {
  if ('items' in value) return `[${value.items.map((item) => write(item, stored)).join(',')}]`;
  if ('branches' in value) {
    const branches = Object.entries(value.branches);
    return `{${branches.map(([name, branch]) => `${JSON.stringify(name)}:${write(branch, stored)}`).join(',')}}`;
  }
  if (value.json !== undefined) return JSON.stringify(value.json);
  const text = stored.get(value.ref)?.text as string;
  return value.at ? JSON.stringify(itemAt(JSON.parse(text), value.at)) : text;
}

function itemAt(json: Json, at: number[] = []): Json {
  return at.reduce((list, index) => (list as Json[])[index] as Json, json);
}

function mapValues<T, U>(record: { [key: string]: T }, map: (value: T) => U): { [key: string]: U } {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

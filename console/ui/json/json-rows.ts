// A JSON value as the rows of JsonView.
import { findChangedNumber } from './read-json.ts';

/** A row: a value, or the start of an array or object, which can be collapsed. */
export type JsonRow = {
  /** JSON Pointer of the value. */
  path: string;
  depth: number;
  /** The key or index of the value; undefined for the root. */
  name: string | number | undefined;
  kind: 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';
  /** The value itself; undefined for arrays and objects. */
  value: string | number | boolean | null | undefined;
  /** The number of values in an array or object. */
  count: number;
  isOpen: boolean;
  /** Whether the value is a text that holds this array or object as JSON. */
  isText?: boolean;
};

const OPEN_ROWS_MAX = 200;
/** Longer texts are shown as they are. */
const PARSED_MAX_CHARS = 100_000;

/** Lists the rows of a value. `toggled` has the paths that the user opened or closed. */
export function jsonRows(value: unknown, toggled: ReadonlySet<string>, openDepth: number): JsonRow[] {
  const rows: JsonRow[] = [];
  add(value, '', 0, undefined);
  return rows;

  function add(value: unknown, path: string, depth: number, name: string | number | undefined): void {
    const inText = typeof value === 'string' ? parseText(value) : undefined;
    if (inText === undefined && (typeof value !== 'object' || value === null)) {
      rows.push({ path, depth, name, kind: kindOf(value), value: value as never, count: 0, isOpen: false });
      return;
    }
    const held = (inText ?? value) as object;
    const isArray = Array.isArray(held);
    const count = Object.keys(held).length;
    const isOpen = count > 0 && depth < openDepth !== toggled.has(path);
    const kind = isArray ? 'array' : 'object';
    rows.push({ path, depth, name, kind, value: undefined, count, isOpen, ...(inText && { isText: true }) });
    if (!isOpen) return;
    for (const [key, item] of Object.entries(held))
      add(item, `${path}/${escapePointer(key)}`, depth + 1, isArray ? Number(key) : key);
  }
}

/** Parses a text that holds an array or object as JSON; undefined for other texts, and where numbers would change. */
function parseText(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > PARSED_MAX_CHARS || findChangedNumber(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

/** Returns the depth to which a value is open at first: as deep as possible with at most 200 rows. */
export function openDepthOf(value: unknown): number {
  let level = [value];
  let rows = 1;
  for (let depth = 0; depth < 64; depth++) {
    const next: unknown[] = [];
    for (const item of level)
      if (typeof item === 'object' && item !== null) {
        for (const child of Array.isArray(item) ? item : Object.values(item)) next.push(child);
        if (rows + next.length > OPEN_ROWS_MAX) return Math.max(1, depth);
      }
    if (next.length === 0) return depth + 1;
    rows += next.length;
    level = next;
  }
  return 64;
}

/**
 * Finds the paths of values whose key or text contains the text, ignoring case; at most `max`, in the order of the
 * rows.
 */
export function findInJson(value: unknown, text: string, max = 1_000): string[] {
  const found: string[] = [];
  const needle = text.toLowerCase();
  if (needle !== '') visit(value, '', '');
  return found;

  function visit(value: unknown, path: string, name: string): void {
    if (found.length >= max) return;
    const isLeaf = typeof value !== 'object' || value === null;
    if (name.toLowerCase().includes(needle) || (isLeaf && String(value).toLowerCase().includes(needle)))
      found.push(path);
    if (isLeaf) return;
    for (const [key, item] of Object.entries(value))
      visit(item, `${path}/${escapePointer(key)}`, Array.isArray(value) ? '' : key);
  }
}

/** Returns the paths of all ancestors, which must be open to show these values. */
export function pathsAround(paths: Iterable<string>): Set<string> {
  const around = new Set<string>();
  for (const path of paths)
    for (let end = path.lastIndexOf('/'); end >= 0; end = path.lastIndexOf('/', end - 1)) {
      around.add(path.slice(0, end));
      if (end === 0) break;
    }
  return around;
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function kindOf(value: unknown): JsonRow['kind'] {
  if (value === null || value === undefined) return 'null';
  return typeof value === 'string' ? 'string' : typeof value === 'number' ? 'number' : 'boolean';
}

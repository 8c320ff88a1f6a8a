// Reads the text of a flow file as JSON values that know their lines.
import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import { ServiceError } from '../../flow/errors.ts';
import type { PathSegment } from '../../flow/step-path.ts';

const DEPTH_MAX = 100;
const PROBLEMS_MAX = 100;

/** `path` is written for people: `steps[2].branches.summary[0].prompt`. `line` counts from 1. */
export type FileProblem = { path: string; message: string; line?: number };
export type Problem = { path: PathSegment[]; message: string };
type Parsed = { value: unknown; lineOf(path: PathSegment[]): number };

/** Parses a text as YAML or JSON. Throws VALIDATION_ERROR with `extra.problems` for one that is neither. */
export function parseText(text: string, format: 'yaml' | 'json'): Parsed {
  return format === 'json' ? parseJson(text) : parseYaml(text);
}

function parseJson(text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw describeFileProblems('VALIDATION_ERROR', [
      { path: '', message: `Not valid JSON: ${(error as Error).message}` },
    ]);
  }
  if (findNonJson(value).length > 0) return { value, lineOf: () => 1 };
  // JSON is YAML too. The YAML parser knows lines, and finds what JSON.parse ignores: keys written twice.
  const { document, lineOf } = readDocument(text);
  const twice = findForbidden(document, lineOf);
  if (twice.length > 0) throw describeFileProblems('VALIDATION_ERROR', twice);
  return { value, lineOf: (path) => lineOf(offsetOf(document, path)) };
}

function parseYaml(text: string): Parsed {
  const { document, lineOf } = readDocument(text);
  const syntax = [...document.errors, ...document.warnings].map((error) => ({
    path: '',
    message: error.code === 'RESOURCE_EXHAUSTION' ? 'Nested too deeply.' : error.message,
    line: lineOf(error.pos[0]),
  }));
  const problems = syntax.length > 0 ? syntax : findForbidden(document, lineOf);
  if (problems.length > 0) throw describeFileProblems('VALIDATION_ERROR', problems);
  return { value: document.toJS({ maxAliasCount: 0 }), lineOf: (path) => lineOf(offsetOf(document, path)) };
}

function readDocument(text: string): { document: Document; lineOf(offset: number): number } {
  const counter = new LineCounter();
  const document = parseDocument(text, {
    schema: 'core',
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: counter,
  });
  return { document, lineOf: (offset) => counter.linePos(offset).line };
}

/** Finds aliases, and keys that a map has twice (the parser's own check of these takes quadratic time). */
function findForbidden(document: Document, lineOf: (offset: number) => number): FileProblem[] {
  const problems: FileProblem[] = [];
  const report = (node: { range?: [number, number, number] | null }, message: string) =>
    problems.push({ path: '', message, line: lineOf(node.range?.[0] ?? 0) });
  visit(document, {
    Alias: (_, node) => {
      report(node, 'Aliases (*) are not accepted: write the value out.');
    },
    Map: (_, node) => {
      const keys = new Set<unknown>();
      for (const { key } of node.items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) report(key, `The key ${JSON.stringify(key.value)} is there twice.`);
        keys.add(key.value);
      }
    },
  });
  return problems;
}

/** Returns the offset of the deepest part of a path that is in the file; in a map, of its key. */
function offsetOf(document: Document, path: PathSegment[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const segment of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(segment));
      if (!pair || !isScalar(pair.key)) break;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && node.items[Number(segment)] !== undefined) {
      node = node.items[Number(segment)];
      offset = (node as { range?: [number, number, number] }).range?.[0] ?? offset;
    } else break;
  }
  return offset;
}

/** Finds values that JSON cannot hold, nesting that is too deep, and `__proto__` keys. */
export function findNonJson(value: unknown, path: PathSegment[] = []): Problem[] {
  if (path.length > DEPTH_MAX) return [{ path: path.slice(0, 3), message: 'Nested too deeply.' }];
  if (Array.isArray(value)) return value.flatMap((item, index) => findNonJson(item, [...path, index]));
  if (typeof value === 'number' && !Number.isFinite(value)) return [{ path, message: 'Not a JSON number.' }];
  if (value === null || typeof value !== 'object') return [];
  if (Object.getPrototypeOf(value) !== Object.prototype) return [{ path, message: 'Not a JSON value.' }];
  return Object.entries(value).flatMap(([key, child]) =>
    key === '__proto__'
      ? [{ path: [...path, key], message: 'This key is not accepted.' }]
      : findNonJson(child, [...path, key]),
  );
}

/** Makes the error that lists problems in the order of their lines. */
export function describeFileProblems(
  code: 'VALIDATION_ERROR' | 'INVALID_TREE',
  problems: FileProblem[],
): ServiceError {
  const shown = problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)).slice(0, PROBLEMS_MAX);
  const lines = shown.map(
    ({ path, message, line }) => `${line ? `line ${line}: ` : ''}${path ? `${path}: ` : ''}${message}`,
  );
  if (problems.length > shown.length) lines.push(`and ${problems.length - shown.length} more problems.`);
  return new ServiceError(code, lines.join('\n'), { problems: shown });
}

// Reads the text of a flow file as JSON values with line numbers.
import {
  type Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  Scalar,
  visit,
} from 'yaml';
import { isRefusedMember } from '../../flow/json.ts';
import { formatPath, type PathSegment } from '../../flow/step-path.ts';
import { findInexactNumber } from '../../platform/json-text/scan-json.ts';
import { describeFileProblems, type FileProblem, type Problem } from './file-problems.ts';

/** A map or list as a key is nearly always a variable without quotes. */
const BRACES =
  'YAML takes {{ as a map: put the text in quotes, as in "Greet {{message}}", or write it below a |.';

const STRING_TAG = 'tag:yaml.org,2002:str';
const PROBLEMS_MAX = 1_000;

const QUOTES =
  'YAML takes a colon and a space as a key: put the text in quotes, as in "Sum up: {{message}}", or write it below a |, and indent keys of one map alike.';

const DEPTH_MAX = 100;

/** `value` leaves out the parts that `problems` name. */
type Parsed = { value: unknown; problems: Problem[]; lineOf(path: PathSegment[]): number };

/** Parses a text as YAML or JSON. Throws VALIDATION_ERROR with `extra.problems` when it is neither. */
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
  if (findNonJson(value).length > 0) return { value, problems: [], lineOf: () => 1 };
  // JSON is YAML too. The YAML parser knows lines, and finds duplicate keys, which JSON.parse ignores.
  const { document, lineOf } = readDocument(text);
  const problems = takeForbidden(document, lineOf);
  return { value, problems, lineOf: (path) => lineOf(offsetOf(document, path)) };
}

function parseYaml(text: string): Parsed {
  const { document, lineOf } = readDocument(text);
  const syntax = describeYamlErrors(document, text, lineOf);
  const forbidden = takeForbidden(document, lineOf);
  const files = forbidden.map(({ path, message, line }) => ({ path: formatPath(path), message, line }));
  const lines = new Set(syntax.map(({ line }) => line));
  if (syntax.length > 0)
    throw describeFileProblems('VALIDATION_ERROR', [
      ...syntax,
      ...files.filter(({ line }) => !lines.has(line)),
    ]);
  const value = document.toJS({ maxAliasCount: 0 });
  return { value, problems: forbidden, lineOf: (path) => lineOf(offsetOf(document, path)) };
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

/** Finds values that JSON cannot represent, nesting that is too deep, and keys that are not accepted. */
export function findNonJson(value: unknown, path: PathSegment[] = []): Problem[] {
  if (path.length > DEPTH_MAX) return [{ path: path.slice(0, 3), message: 'Nested too deeply.' }];
  if (Array.isArray(value)) return value.flatMap((item, index) => findNonJson(item, [...path, index]));
  if (typeof value === 'number' && !Number.isFinite(value)) return [{ path, message: 'Not a JSON number.' }];
  if (value === null || typeof value !== 'object') return [];
  if (Object.getPrototypeOf(value) !== Object.prototype) return [{ path, message: 'Not a JSON value.' }];
  return Object.entries(value).flatMap(([key, child]) =>
    isRefusedMember(key, child)
      ? [{ path: [...path, key], message: 'This key is not accepted.' }]
      : findNonJson(child, [...path, key]),
  );
}

/** Returns the offset of the deepest part of a path that is in the file; in a map, the offset of its key. */
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

/**
 * Describes the YAML syntax errors of a text, one for each line, with the path of the value around the error when
 * known.
 */
function describeYamlErrors(
  document: Document,
  text: string,
  lineOf: (offset: number) => number,
): FileProblem[] {
  const lines = text.split('\n');
  const found = new Map<number, FileProblem>();
  for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
    const line = lineOf(pos[0]);
    // `takeForbidden` reports these when there are no other errors.
    if (code === 'NON_STRING_KEY' || found.has(line)) continue;
    const { path, keyOffset } = keyBefore(document, pos[0]);
    // A key on an earlier line is unrelated to the error, unless its text did not end.
    const isKnown = lineOf(keyOffset) === line || code === 'MISSING_CHAR';
    found.set(line, {
      path: isKnown ? formatPath(path) : '',
      message: describe(code, message, lines[line - 1] ?? ''),
      line,
    });
  }
  return [...found.values()];
}

function describe(code: string, message: string, line: string): string {
  if (code === 'RESOURCE_EXHAUSTION') return 'Nested too deeply.';
  if (code === 'BLOCK_AS_IMPLICIT_KEY') return QUOTES;
  if (/:\s+\{\{/.test(line) && code !== 'TAB_AS_INDENT') return BRACES;
  if (code === 'BAD_SCALAR_START') return `${message}: put the text in quotes, or write it below a |.`;
  return `${message}.`;
}

/** Returns the path of the deepest value whose key begins before an offset, and the offset of that key. */
function keyBefore(document: Document, offset: number): { path: PathSegment[]; keyOffset: number } {
  const path: PathSegment[] = [];
  let keyOffset = 0;
  for (let node: unknown = document.contents; ; ) {
    if (isMap(node)) {
      const pair = node.items.findLast(({ key }) => startOf(key) < offset);
      if (!pair || !isScalar(pair.key)) return { path, keyOffset };
      path.push(String(pair.key.value));
      keyOffset = startOf(pair.key);
      node = pair.value;
    } else if (isSeq(node)) {
      const index = node.items.findLastIndex((item) => startOf(item) < offset);
      if (index < 0) return { path, keyOffset };
      path.push(index);
      node = node.items[index];
    } else return { path, keyOffset };
  }
}

function startOf(node: unknown): number {
  return (node as { range?: [number, number, number] } | null)?.range?.[0] ?? Number.POSITIVE_INFINITY;
}

/**
 * Finds YAML features that JSON lacks: aliases, maps as keys, and duplicate keys (the parser's own check for these
 * takes quadratic time). Replaces aliases and maps with such keys by null.
 */
function takeForbidden(document: Document, lineOf: (offset: number) => number): Problem[] {
  const problems: Problem[] = [];
  const report = (node: Node, message: string, ancestors: readonly unknown[]) => {
    if (problems.length >= PROBLEMS_MAX) return;
    problems.push({ path: pathTo(ancestors, node), message, line: lineOf(node.range?.[0] ?? 0) });
  };
  visit(document, {
    Alias: (_, node, ancestors) => {
      report(node, 'Aliases (*) are not accepted: write the value out.', ancestors);
      return new Scalar(null);
    },
    Scalar: (_, node, ancestors) => {
      const { value, source = '' } = node;
      if (typeof value === 'number' && isRounded(value, source))
        report(
          node,
          `The digits of ${source.slice(0, 40)} would be changed: put the number in quotes.`,
          ancestors,
        );
    },
    Map: (_, node, ancestors) => {
      const keys = new Set<unknown>();
      for (const { key } of node.items) {
        if (!isText(key)) {
          report(node, isMap(key) ? BRACES : 'Keys must be text.', ancestors);
          return new Scalar(null);
        }
        const message = `The key ${JSON.stringify(key.value)} is there twice.`;
        if (keys.has(key.value)) report(key, message, [...ancestors, node, { key }]);
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return problems;
}

/** Whether the digits of a whole number differ from those in its source. */
function isRounded(value: number, source: string): boolean {
  if (/^[+-]?[\d.]*[.eE]/.test(source)) return findInexactNumber(Buffer.from(source)) !== undefined;
  const digits = /^0[xo]/.test(source) ? String(BigInt(source)) : source.replace(/^\+?(-?)0*(?=\d)/, '$1');
  return Math.abs(value) >= 2 ** 53 && /^-?\d+$/.test(digits) && String(value) !== digits;
}

/** A tag may change the value of a key that reads as text. */
function isText(key: unknown): key is Scalar<string> {
  return isScalar(key) && typeof key.value === 'string' && [undefined, '!', STRING_TAG].includes(key.tag);
}

function pathTo(ancestors: readonly unknown[], node: unknown): PathSegment[] {
  return ancestors.flatMap((each, index): PathSegment[] => {
    if (isSeq(each)) return [each.items.indexOf(ancestors[index + 1] ?? node)];
    const key = isPair(each) ? each.key : (each as { key?: unknown }).key;
    return isScalar(key) ? [String(key.value)] : [];
  });
}

// Reads the text of a flow file as JSON values with line numbers.
import { type Document, LineCounter, parseDocument } from 'yaml';
import { formatPath, type PathSegment } from '../../flow/step-path.ts';
import { describeFileProblems, type Problem } from './describe-file-problems.ts';
import { describeYamlErrors } from './describe-yaml-errors.ts';
import { offsetOf } from './offset-of.ts';
import { takeForbidden } from './take-forbidden.ts';

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

/** Finds values that JSON cannot represent, nesting that is too deep, and `__proto__` keys. */
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

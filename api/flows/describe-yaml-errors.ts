import { type Document, isMap, isScalar, isSeq } from 'yaml';
import { formatPath, type PathSegment } from '../../flow/step-path.ts';
import type { FileProblem } from './describe-file-problems.ts';
import { BRACES } from './take-forbidden.ts';

const QUOTES =
  'YAML takes a colon and a space as a key: put the text in quotes, as in "Sum up: {{message}}", or write it below a |, and indent keys of one map alike.';

/**
 * Describes the YAML syntax errors of a text, one for each line, with the path of the value around the error when
 * known.
 */
export function describeYamlErrors(
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

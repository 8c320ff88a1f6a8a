import { type Document, isMap, isPair, isScalar, isSeq, type Node, Scalar, visit } from 'yaml';
import type { PathSegment } from '../../flow/step-path.ts';
import type { Problem } from './describe-file-problems.ts';

/** A key that is itself a map or a list is nearly always a variable without quotes. */
export const BRACES =
  'YAML takes {{ as a map: put the text in quotes, as in "Greet {{message}}", or write it below a |.';
const STRING_TAG = 'tag:yaml.org,2002:str';
const PROBLEMS_MAX = 1_000;

/**
 * Finds what YAML may say and JSON may not: aliases, keys that are maps, and keys that a map has twice (the parser's own check
 * of these takes quadratic time). Puts null in place of aliases and of maps that have such keys.
 */
export function takeForbidden(document: Document, lineOf: (offset: number) => number): Problem[] {
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

/** A tag may make another value of a key that is read as text. */
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

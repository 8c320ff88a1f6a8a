import { type Document, isMap, isPair, isScalar, isSeq, type Node, Scalar, visit } from 'yaml';
import type { PathSegment } from '../../flow/step-path.ts';
import type { Problem } from './describe-file-problems.ts';

/** A map or list as a key is nearly always a variable without quotes. */
export const BRACES =
  'YAML takes {{ as a map: put the text in quotes, as in "Greet {{message}}", or write it below a |.';
const STRING_TAG = 'tag:yaml.org,2002:str';
const PROBLEMS_MAX = 1_000;

/**
 * Finds YAML features that JSON lacks: aliases, maps as keys, and duplicate keys (the parser's own check for these
 * takes quadratic time). Replaces aliases and maps with such keys by null.
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

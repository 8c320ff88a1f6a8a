import type { Span } from './spans.ts';

/** A span as a line of the waterfall. */
export type SpanRow = { span: Span; depth: number; isOpen: boolean; name: string };

const OPEN_ITERATIONS_MAX = 12;

/** The lines of a waterfall. `toggled` has the ids of spans that the reader opened or closed. */
export function visibleSpans(root: Span, toggled: ReadonlySet<string>): SpanRow[] {
  const rows: SpanRow[] = [];
  add(root, 0, root.name);
  return rows;

  function add(span: Span, depth: number, name: string): void {
    const isOpen = span.children.length > 0 && isOpenAtFirst(span) !== toggled.has(span.id);
    rows.push({ span, depth, isOpen, name });
    if (!isOpen) return;
    for (const child of span.children) {
      // An iteration or a branch of a single block is that block.
      const only = child.children.length === 1 ? child.children[0] : undefined;
      if (child.kind === 'iteration' && only) add(only, depth + 1, `${only.name} ${child.name}`);
      else if (child.kind === 'branch' && only) add(only, depth + 1, `${child.name}: ${only.name}`);
      else add(child, depth + 1, child.name);
    }
  }
}

/** The ids of the spans around the one that shows this block execution, the outermost first; undefined when none does. */
export function pathToSpan(root: Span, isWanted: (span: Span) => boolean): Span[] | undefined {
  if (isWanted(root)) return [root];
  for (const child of root.children) {
    const path = pathToSpan(child, isWanted);
    if (path) return [root, ...path];
  }
  return undefined;
}

/** Whether a span is open before the reader has toggled it: all are, except long loops. */
export function isOpenAtFirst(span: Span): boolean {
  return span.kind !== 'loop' || span.children.length <= OPEN_ITERATIONS_MAX;
}

import type { Span } from './spans.ts';

/** A line of the waterfall. */
export type SpanRow = { span: Span; depth: number; isOpen: boolean; name: string };

const OPEN_ITERATIONS_MAX = 12;

/** Lists the visible lines. `toggled` has the ids of spans that the user opened or closed. */
export function visibleSpans(root: Span, toggled: ReadonlySet<string>): SpanRow[] {
  const rows: SpanRow[] = [];
  add(root, 0, root.name);
  return rows;

  function add(span: Span, depth: number, name: string): void {
    const isOpen = span.children.length > 0 && isOpenAtFirst(span) !== toggled.has(span.id);
    rows.push({ span, depth, isOpen, name });
    if (!isOpen) return;
    for (const child of span.children) {
      // An iteration or branch with a single block is shown as that block.
      const only = child.children.length === 1 ? child.children[0] : undefined;
      if (child.kind === 'iteration' && only) add(only, depth + 1, `${only.name} ${child.name}`);
      else if (child.kind === 'branch' && only) add(only, depth + 1, `${child.name}: ${only.name}`);
      else add(child, depth + 1, child.name);
    }
  }
}

/** Finds the wanted span, and returns it with its ancestors, outermost first; undefined when there is none. */
export function pathToSpan(root: Span, isWanted: (span: Span) => boolean): Span[] | undefined {
  if (isWanted(root)) return [root];
  for (const child of root.children) {
    const path = pathToSpan(child, isWanted);
    if (path) return [root, ...path];
  }
  return undefined;
}

/** Whether a span is open by default: all are except long loops. */
export function isOpenAtFirst(span: Span): boolean {
  return span.kind !== 'loop' || span.children.length <= OPEN_ITERATIONS_MAX;
}

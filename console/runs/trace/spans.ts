// The block executions of a run as a tree of spans: loops contain iterations, parallel steps contain branches.
import type { components } from '../../api/schema.d.ts';
import { findStep, listsInside, type Step } from '../../flow/draft/steps.ts';
import { type StepStatus, worseStatus } from '../../flow/graph/graph-props.ts';

/** A line of the waterfall. */
export type SpanRow = { span: Span; depth: number; isOpen: boolean; name: string };

const OPEN_ITERATIONS_MAX = 12;

const STATUSES: Record<string, StepStatus['status']> = {
  completed: 'completed',
  failed: 'failed',
  running: 'running',
  retrying: 'running',
  paused: 'paused',
  cancelled: 'cancelled',
};

type TracedBlock = components['schemas']['TracedBlock'];
type BlockUnderWay = components['schemas']['BlockUnderWay'];

/** A block execution, ended or under way. */
export type Execution = TracedBlock | BlockUnderWay;

export type Span = {
  /** Unique in the run, and stable across updates. */
  id: string;
  kind: 'run' | 'loop' | 'iteration' | 'parallel' | 'branch' | 'block';
  name: string;
  stepId: string | undefined;
  status: string;
  /** Milliseconds since 1970. */
  start: number;
  end: number;
  /** The earliest possible start: the end of the previous span. */
  ready: number;
  execution: Execution | undefined;
  children: Span[];
  /** The number of block executions. */
  count: number;
  cost: number;
  tokens: number;
};

type Around = { kind: 'loop' | 'parallel'; stepId: string; name: string; branch?: string };

/** Builds the span of a run with all others inside. Without the tree of steps, block executions are listed flat. */
export function buildSpans(
  run: {
    executionId: string;
    status: string;
    outcome?: string | undefined;
    startedAt: string;
    finishedAt: string | null;
    /** The failed step; a loop or a parallel step has no execution of its own. */
    step_id?: string | undefined;
  },
  steps: Step[] | undefined,
  executions: readonly Execution[],
  now: number,
): Span {
  const around = steps ? aroundSteps(steps) : new Map<string, Around[]>();
  const root = makeSpan('run', '', 'Run', undefined);
  const known = new Map<string, Span>();
  const times = new Map<string, number>();
  for (const execution of executions) {
    let parent = root;
    let depth = 0;
    for (const { kind, stepId, name, branch } of around.get(execution.step_id) ?? []) {
      parent = child(parent, kind, stepId, name, stepId);
      const part = kind === 'loop' ? (execution.iterations?.[depth++] ?? 0) : (branch ?? '');
      parent = child(
        parent,
        kind === 'loop' ? 'iteration' : 'branch',
        String(part),
        kind === 'loop' ? `#${part}` : String(part),
        stepId,
      );
    }
    // A session or a resume may execute a block again. Its call is known only once the block has ended.
    const time = (times.get(execution.key) ?? 0) + 1;
    times.set(execution.key, time);
    const block = child(parent, 'block', `${execution.key}@${time}`, execution.name, execution.step_id);
    fill(block, execution, now);
  }
  markFailedGroup();
  sum(root);
  if (run.status === 'started') markUnderWay(root);
  root.status = run.outcome === 'cancelled' ? run.outcome : run.status;
  root.start = Date.parse(run.startedAt);
  root.end = Math.max(
    run.finishedAt ? Date.parse(run.finishedAt) : run.status === 'started' ? now : 0,
    root.end,
  );
  setReady(root, root.start);
  return root;

  /** Adds a span for a loop or parallel step that failed without a failed block, such as a loop over a non-array. */
  function markFailedGroup(): void {
    const { step_id: stepId, finishedAt } = run;
    if (run.status !== 'failed' || stepId === undefined || !finishedAt) return;
    const step = steps && findStep(steps, stepId)?.step;
    if (!step || step.type === 'sequential') return;
    let parent = root;
    for (const outer of around.get(stepId) ?? []) {
      parent = child(parent, outer.kind, outer.stepId, outer.name, outer.stepId);
      const [kind, part] =
        outer.kind === 'loop' ? (['iteration', '#0'] as const) : (['branch', outer.branch ?? ''] as const);
      parent =
        (kind === 'iteration' && parent.children.at(-1)) || child(parent, kind, part, part, outer.stepId);
    }
    const failed = child(parent, step.type, stepId, step.name, stepId);
    failed.status = 'failed';
    if (failed.children.length === 0) failed.start = failed.end = Date.parse(finishedAt);
  }

  /**
   * Marks the latest enclosing spans as running even when all their known blocks have completed: a loop may begin
   * again.
   */
  function markUnderWay(span: Span): void {
    for (const inner of span.kind === 'parallel' ? span.children : span.children.slice(-1)) {
      if (inner.kind === 'block') continue;
      markUnderWay(inner);
      if (inner.status === 'completed' && !isAtItsEnd(inner)) inner.status = 'running';
    }
  }

  /** Whether the latest block of an iteration or branch is its last one. */
  function isAtItsEnd({ children }: Span): boolean {
    const last = children.at(-1);
    if (!steps || last?.kind !== 'block') return false;
    return findStep(steps, last.stepId)?.steps.at(-1)?.step_id === last.stepId;
  }

  function child(parent: Span, kind: Span['kind'], key: string, name: string, stepId: string): Span {
    const id = `${parent.id}/${kind}:${key}`;
    const found = known.get(id);
    if (found) return found;
    const made = makeSpan(kind, id, name, stepId);
    known.set(id, made);
    parent.children.push(made);
    return made;
  }
}

/** Returns a unique key of a block execution in its run. */
export function spanKey(execution: Execution): string {
  return 'callId' in execution ? `${execution.key}@${execution.callId}` : execution.key;
}

function aroundSteps(steps: Step[], outer: Around[] = [], found = new Map<string, Around[]>()) {
  for (const step of steps) {
    found.set(step.step_id, outer);
    if (step.type === 'sequential') continue;
    for (const { list, steps: inner } of listsInside(step)) {
      const { step_id: stepId, name, type: kind } = step;
      aroundSteps(
        inner,
        [...outer, { kind, stepId, name, ...(list.branch !== undefined && { branch: list.branch }) }],
        found,
      );
    }
  }
  return found;
}

function makeSpan(kind: Span['kind'], id: string, name: string, stepId: string | undefined): Span {
  const times = { start: Number.POSITIVE_INFINITY, end: 0, ready: 0 };
  const sums = { count: 0, cost: 0, tokens: 0 };
  return { id, kind, name, stepId, status: '', ...times, execution: undefined, children: [], ...sums };
}

function fill(span: Span, execution: Execution, now: number): void {
  span.execution = execution;
  span.status = execution.status;
  span.start = Date.parse(execution.startedAt);
  span.count = 1;
  if ('finishedAt' in execution) {
    span.end = Date.parse(execution.finishedAt);
    span.cost = execution.usage.cost;
    span.tokens = (execution.usage.promptTokens ?? 0) + (execution.usage.completionTokens ?? 0);
  } else span.end = Math.max(now, span.start);
}

// A group takes the first of these statuses that one of its children has.
const TELLING = ['failed', 'retrying', 'running', 'paused', 'cancelled', 'completed'];

function sum(span: Span): void {
  if (span.kind === 'block') return;
  for (const inner of span.children) {
    sum(inner);
    span.start = Math.min(span.start, inner.start);
    span.end = Math.max(span.end, inner.end);
    span.count += inner.count;
    span.cost += inner.cost;
    span.tokens += inner.tokens;
  }
  span.children.sort((a, b) => a.start - b.start);
  span.status ||= TELLING.find((status) => span.children.some((inner) => inner.status === status)) ?? '';
}

function setReady(span: Span, ready: number): void {
  span.ready = Math.min(ready, span.start);
  let next = span.ready;
  for (const inner of span.children) {
    setReady(inner, next);
    // Branches start together; everything else starts after the previous span.
    if (span.kind !== 'parallel') next = inner.end;
  }
}

/** Returns the status of each step in the graph, from the spans of a run. */
export function stepStatuses(root: Span): Map<string, StepStatus> {
  const statuses = new Map<string, StepStatus>();
  visit(root);
  return statuses;

  function visit(span: Span): void {
    for (const child of span.children) visit(child);
    if (span.stepId === undefined || span.kind === 'iteration' || span.kind === 'branch') return;
    const status = STATUSES[span.status] ?? 'pending';
    const before = statuses.get(span.stepId);
    statuses.set(span.stepId, {
      status: worseStatus(before?.status, status),
      count: (before?.count ?? 0) + (span.kind === 'loop' ? span.children.length : 1),
      ms: (before?.ms ?? 0) + span.end - span.start,
      cost: (before?.cost ?? 0) + span.cost,
    });
  }
}

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

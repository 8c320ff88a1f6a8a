import { type StepStatus, worseStatus } from '../../flow/graph/step-status.ts';
import type { Span } from './spans.ts';

const STATUSES: Record<string, StepStatus['status']> = {
  completed: 'completed',
  failed: 'failed',
  running: 'running',
  retrying: 'running',
  paused: 'paused',
};

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

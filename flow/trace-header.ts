/** The Temporal header in which a trace travels, of the name and form that Temporal's own interceptors use. */
export const TRACE_HEADER = '_tracer-data';

/**
 * Returns the id of a workflow's span: the random part of the id that Temporal gives each run of it. What the workflow starts
 * names it as its parent; the span itself is made when the workflow has ended.
 */
export function spanIdOf(runId: string): string {
  return runId.replaceAll('-', '').slice(-16);
}

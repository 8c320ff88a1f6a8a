/** A span as other processes and services continue it: the headers of the W3C's Trace Context. */
export type TraceContext = { traceparent: string; tracestate?: string };

/** Returns the id of a trace; undefined for null. */
export function traceIdOf(trace: TraceContext | null | undefined): string | undefined {
  return trace?.traceparent.split('-')[1];
}

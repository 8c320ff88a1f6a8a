import { type TraceContext, traceIdOf } from '../../../platform/observability/trace-context.ts';

/** Returns the field that names the trace of a run; none where traces were off. */
export function traceIdField(trace: TraceContext | null | undefined): { traceId?: string } {
  const traceId = traceIdOf(trace);
  return traceId === undefined ? {} : { traceId };
}

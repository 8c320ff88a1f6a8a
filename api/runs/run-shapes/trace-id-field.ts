import { type TraceContext, traceIdOf } from '../../../platform/observability/trace-context.ts';

/** Returns the field with the trace id of a run; {} where tracing was off. */
export function traceIdField(trace: TraceContext | null | undefined): { traceId?: string } {
  const traceId = traceIdOf(trace);
  return traceId === undefined ? {} : { traceId };
}

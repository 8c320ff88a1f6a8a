// Spans of this process. Traces begin at HTTP requests; other work, such as the scheduled jobs of workers, has no spans.
// While traces are off, each function here costs one comparison, and OpenTelemetry is not loaded.
import type { Attributes, Context, Link, Span, Tracer } from '@opentelemetry/api';

/** A span as other processes and services continue it: the headers of the W3C's Trace Context. */
export type TraceContext = { traceparent: string; tracestate?: string };

type Api = Pick<
  typeof import('@opentelemetry/api'),
  'context' | 'propagation' | 'ROOT_CONTEXT' | 'SpanKind' | 'SpanStatusCode' | 'trace'
>;

/** All that tracing needs. `carrier` reads and writes the W3C form, whatever OTEL_PROPAGATORS says about requests. */
type Tracing = {
  api: Api;
  tracer: Tracer;
  carrier: { extract(trace: TraceContext): Context; inject(context: Context): TraceContext };
  /** Starts a span whose id is given: it was used as a parent before. */
  withSpanId<T>(id: string, start: () => T): T;
};

type SpanOptions = {
  kind?: 'SERVER' | 'CLIENT';
  attributes?: Attributes;
  /** The span to continue from instead of the current one. */
  parent?: TraceContext;
  /** The headers of a request that starts or continues a trace. */
  request?: { [name: string]: string | string[] | undefined };
  id?: string;
  startTime?: Date;
};

/** A span that has begun. Attributes never hold secrets, or the content of requests and runs. */
type OpenSpan = {
  /** Whether anybody will see the span: tracing is on, and the trace was sampled. */
  isRecording: boolean;
  set(attributes: Attributes): void;
  rename(name: string): void;
  /** Marks the span as failed. `type` is a code or the name of an error; messages may quote content. */
  fail(type: string): void;
  /** Does `work` inside the span. */
  run<T>(work: () => T): T;
  end(): void;
};

const NO_SPAN: OpenSpan = {
  isRecording: false,
  set: () => undefined,
  rename: () => undefined,
  fail: () => undefined,
  run: (work) => work(),
  end: () => undefined,
};
const TYPE_MAX_CHARS = 100;

let on: Tracing | undefined;

/** Turns tracing on for this process, or off. */
export function useTracing(tracing: Tracing | undefined): void {
  on = tracing;
}

export function isTracing(): boolean {
  return on !== undefined;
}

/** Begins a span; undefined while traces are off, and outside of a trace. The caller ends it. */
export function openSpan(name: string, options: SpanOptions): OpenSpan | undefined {
  if (!on) return undefined;
  const { api, tracer } = on;
  const { kind, attributes, parent, request, id, startTime } = options;
  const from = request
    ? api.propagation.extract(api.ROOT_CONTEXT, request)
    : parent
      ? on.carrier.extract(parent)
      : api.context.active();
  if (!request && !api.trace.getSpanContext(from)) return undefined;
  const start = () =>
    tracer.startSpan(
      name,
      {
        kind: kind ? api.SpanKind[kind] : api.SpanKind.INTERNAL,
        ...(attributes && { attributes }),
        ...(startTime && { startTime }),
      },
      from,
    );
  return toOpenSpan(api, id === undefined ? start() : on.withSpanId(id, start), from);
}

function toOpenSpan(api: Api, span: Span, from: Context): OpenSpan {
  return {
    isRecording: span.isRecording(),
    set: (attributes) => void span.setAttributes(attributes),
    rename: (name) => void span.updateName(name),
    fail(type) {
      span.setStatus({ code: api.SpanStatusCode.ERROR });
      span.setAttribute('error.type', type.slice(0, TYPE_MAX_CHARS));
    },
    run: (work) => api.context.with(api.trace.setSpan(from, span), work),
    end: () => span.end(),
  };
}

/** Does `work` in a span that ends with it. */
export function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: OpenSpan) => Promise<T>,
): Promise<T> {
  const span = openSpan(name, options);
  if (!span) return work(NO_SPAN);
  return span.run(async () => {
    try {
      return await work(span);
    } catch (error) {
      span.fail(typeOf(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Names an error by its code or type, without its message. */
function typeOf(error: unknown): string {
  const { code, type, name } = (error ?? {}) as { code?: unknown; type?: unknown; name?: unknown };
  return (
    [code, type, name].find((value) => typeof value === 'string' && value !== '')?.toString() ?? '_OTHER'
  );
}

/** Returns the current span as it is stored and handed on; undefined outside of a trace. */
export function currentTrace(): TraceContext | undefined {
  if (!on) return undefined;
  const context = on.api.context.active();
  return on.api.trace.getSpanContext(context) && on.carrier.inject(context);
}

/** Returns the headers with which another service continues the current trace. */
export function traceHeaders(): { [name: string]: string } {
  const headers = {};
  on?.api.propagation.inject(on.api.context.active(), headers);
  return headers;
}

/** Does `work` as part of a stored trace, or of none. */
export function continueTrace<T>(stored: TraceContext | null | undefined, work: () => T): T {
  if (!on) return work();
  return on.api.context.with(stored ? on.carrier.extract(stored) : on.api.ROOT_CONTEXT, work);
}

/** Links the current span to a stored trace that it is not part of. */
export function linkToTrace(stored: TraceContext | null): void {
  if (!on || !stored) return;
  const context = on.api.trace.getSpanContext(on.carrier.extract(stored));
  if (context) on.api.trace.getActiveSpan()?.addLink({ context } satisfies Link);
}

/** Returns the fields by which lines of the log are found from a trace. */
export function traceFields(): { trace_id?: string; span_id?: string } {
  const context = on?.api.trace.getSpanContext(on.api.context.active());
  return context ? { trace_id: context.traceId, span_id: context.spanId } : {};
}

/** Returns the id of a trace; undefined for null. */
export function traceIdOf(trace: TraceContext | null | undefined): string | undefined {
  return trace?.traceparent.split('-')[1];
}

// What operators see of a request: its id, its line in the log, its metrics and its span. Paths may contain secrets, so all of
// these have the route alone.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Context, Middleware } from 'koa';
import { currentLogContext, log, withLogContext } from '../../platform/observability/log.ts';
import { activeRequests, requestDuration } from '../../platform/observability/metrics/http-metrics.ts';
import { currentTrace, openSpan, traceFields } from '../../platform/observability/tracing.ts';

/** Polled every few seconds by monitoring. */
const UNTRACED = ['/healthz', '/readyz'];
/** As much as Trace Context asks everyone to hand on; it is stored with runs, and sent to models and receivers. */
export const TRACESTATE_MAX_CHARS = 512;
/** Methods used as a metric label; any other is `_OTHER`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/**
 * Ids of common clients, proxies and trace systems. No spaces, quotes or control characters, which logs would have to
 * escape.
 */
const REQUEST_ID = /^[\w.:;=+/@~-]{1,128}$/;
/** Requests that programs repeat all day. Logged at the level `debug`. */
const ROUTINE = /^\/(?:healthz|readyz|console\/|reference\/)/;
const MS_PER_SECOND = 1_000;

let active = 0;

activeRequests.observe(() => [{ value: active }]);

/**
 * Takes over the caller's X-Request-Id or creates an id, and opens a span that begins a trace or continues the caller's. The
 * header `traceresponse` names the trace (Trace Context, level 2, draft). When the response has been sent, ends the span, measures
 * the request and logs one line.
 */
export const observeRequest: Middleware = (ctx, next) => {
  const began = performance.now();
  const given = ctx.get('X-Request-Id');
  const requestId = REQUEST_ID.test(given) ? given : randomUUID();
  ctx.state.requestId = requestId;
  ctx.set('X-Request-Id', requestId);
  active += 1;
  const span = openRequestSpan(ctx);
  const observe = () =>
    withLogContext({ request_id: requestId }, async () => {
      const { traceparent } = (span && currentTrace()) ?? {};
      if (traceparent) ctx.set('traceresponse', traceparent);
      const fields = currentLogContext();
      // The line is written outside the request's span.
      const trace = traceFields();
      ctx.res.once('close', () => {
        active -= 1;
        const ms = performance.now() - began;
        measure(ctx, ms);
        if (span) endSpan(ctx, span);
        logRequest(ctx, ms, { ...fields, ...trace });
      });
      await next();
      ctx.state.isAnswered = true;
    });
  return span ? span.run(observe) : observe();
};

type Span = NonNullable<ReturnType<typeof openSpan>>;

function openRequestSpan({ req: { method, url = '', headers } }: Context): Span | undefined {
  const [path = ''] = url.split('?', 1);
  if (UNTRACED.includes(path)) return undefined;
  return openSpan(`${method}`, {
    kind: 'SERVER',
    request: withoutLongState(headers),
    attributes: { 'http.request.method': `${method}`, 'url.scheme': 'http' },
  });
}

function withoutLongState(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { tracestate, ...others } = headers;
  return String(tracestate ?? '').length > TRACESTATE_MAX_CHARS ? others : headers;
}

function endSpan(ctx: Context, span: Span): void {
  const route = routeOf(ctx);
  if (route !== null) {
    span.rename(`${ctx.req.method} ${route}`);
    span.set({ 'http.route': route });
  }
  const { requestId, slugs } = ctx.state;
  const status = statusOf(ctx);
  span.set({
    'weir.request.id': requestId,
    ...(slugs && { 'weir.organization': slugs.organization }),
    ...(status !== null && { 'http.response.status_code': status }),
  });
  if (status !== null && status >= 500) span.fail(String(status));
  else if (!ctx.res.writableFinished) span.fail('cut_off');
  span.end();
}

function measure(ctx: Context, ms: number): void {
  const route = routeOf(ctx);
  const status = statusOf(ctx);
  requestDuration.record(ms / MS_PER_SECOND, {
    'http.request.method': METHODS.has(ctx.method) ? ctx.method : '_OTHER',
    ...(status !== null && { 'http.response.status_code': status }),
    ...(route !== null && { 'http.route': route }),
    // By the OpenTelemetry conventions, 4xx responses are not errors of the server.
    ...(status !== null && status >= 500 && { 'error.type': ctx.state.errorCode ?? String(status) }),
  });
}

function logRequest(ctx: Context, ms: number, { limit, ...fields }: Record<string, unknown>): void {
  const status = statusOf(ctx);
  const line = {
    ...fields,
    method: ctx.method,
    route: routeOf(ctx),
    status,
    // Also of an error that came after the 200 of an answer that was kept alive.
    ...(ctx.state.errorCode && { code: ctx.state.errorCode }),
    ...(status === 429 && { limit }),
    duration_ms: Math.round(ms),
    // The client hung up, or was cut off, before the end of the response.
    ...(!ctx.res.writableFinished && { aborted: true }),
  };
  log[ROUTINE.test(ctx.req.url ?? '') ? 'debug' : 'info'](line, 'Request');
}

/**
 * Returns the route of a request as the API writes it, such as `/api/v1/projects/:project_id`; null when there is
 * none.
 */
export function routeOf(ctx: Context): string | null {
  // Set by the router; missing for unknown paths.
  const route: unknown = ctx._matchedRoute;
  return route === undefined ? null : String(route);
}

/** Returns the status of the response; null when the client hung up before there was one. */
function statusOf(ctx: Context): number | null {
  return ctx.res.headersSent || ctx.state.isAnswered ? ctx.status : null;
}

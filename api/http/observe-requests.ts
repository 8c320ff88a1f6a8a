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

/**
 * Creates the span of a request, which begins a trace or continues the caller's. The span ends when the response has
 * been sent. The header `traceresponse` names the trace (Trace Context, level 2, draft). Paths may contain secrets,
 * so the span has the route alone.
 */
export const traceRequest: Middleware = (ctx, next) => {
  const [path = ''] = (ctx.req.url ?? '').split('?', 1);
  if (UNTRACED.includes(path)) return next();
  const { method } = ctx.req;
  const span = openSpan(`${method}`, {
    kind: 'SERVER',
    request: withoutLongState(ctx.req.headers),
    attributes: {
      'http.request.method': `${method}`,
      'url.scheme': 'http',
    },
  });
  if (!span) return next();
  ctx.res.once('close', () => {
    const route = routeOf(ctx);
    if (route !== null) {
      span.rename(`${method} ${route}`);
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
  });
  return span.run(() => {
    const { traceparent } = currentTrace() ?? {};
    if (traceparent) ctx.set('traceresponse', traceparent);
    return next();
  });
};

/** Methods used as a metric label; any other is `_OTHER`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const MS_PER_SECOND = 1_000;

let active = 0;

activeRequests.observe(() => [{ value: active }]);

/** Measures a request until its response has ended. */
export const measureRequests: Middleware = async (ctx, next) => {
  const began = performance.now();
  active += 1;
  ctx.res.once('close', () => {
    active -= 1;
    const route = routeOf(ctx);
    const status = statusOf(ctx);
    requestDuration.record((performance.now() - began) / MS_PER_SECOND, {
      'http.request.method': METHODS.has(ctx.method) ? ctx.method : '_OTHER',
      ...(status !== null && { 'http.response.status_code': status }),
      ...(route !== null && { 'http.route': route }),
      // By the OpenTelemetry conventions, 4xx responses are not errors of the server.
      ...(status !== null && status >= 500 && { 'error.type': ctx.state.errorCode ?? String(status) }),
    });
  });
  await next();
};

/**
 * Ids of common clients, proxies and trace systems. No spaces, quotes or control characters, which logs would have to
 * escape.
 */
const REQUEST_ID = /^[\w.:;=+/@~-]{1,128}$/;
/** Requests that programs repeat all day. Logged at the level `debug`. */
const ROUTINE = /^\/(?:healthz|readyz|console\/|reference\/)/;

/**
 * Takes over the caller's X-Request-Id or creates an id, and logs one line when the response has ended. The line has
 * the route, never the path, which may contain secrets.
 */
export const identifyRequest: Middleware = async (ctx, next) => {
  const given = ctx.get('X-Request-Id');
  const requestId = REQUEST_ID.test(given) ? given : randomUUID();
  ctx.state.requestId = requestId;
  ctx.set('X-Request-Id', requestId);
  const began = performance.now();
  await withLogContext({ request_id: requestId }, async () => {
    const fields = currentLogContext();
    // The line is written outside the request's span.
    const trace = traceFields();
    ctx.res.once('close', () => {
      const status = statusOf(ctx);
      const { limit, ...others } = fields ?? {};
      const line = {
        ...others,
        ...trace,
        method: ctx.method,
        route: routeOf(ctx),
        status,
        ...(status !== null && status >= 400 && { code: ctx.state.errorCode }),
        ...(status === 429 && { limit }),
        duration_ms: Math.round(performance.now() - began),
        // The client hung up, or was cut off, before the end of the response.
        ...(!ctx.res.writableFinished && { aborted: true }),
      };
      log[ROUTINE.test(ctx.req.url ?? '') ? 'debug' : 'info'](line, 'Request');
    });
    await next();
    ctx.state.isAnswered = true;
  });
};

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

function withoutLongState(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { tracestate, ...others } = headers;
  return String(tracestate ?? '').length > TRACESTATE_MAX_CHARS ? others : headers;
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Middleware } from 'koa';
import { currentTrace, openSpan } from '../../platform/observability/tracing.ts';
import { routeOf } from './route-of.ts';
import { statusOf } from './status-of.ts';

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

function withoutLongState(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { tracestate, ...others } = headers;
  return String(tracestate ?? '').length > TRACESTATE_MAX_CHARS ? others : headers;
}

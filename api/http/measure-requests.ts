import type { Middleware } from 'koa';
import { activeRequests, requestDuration } from '../../platform/observability/metrics/http-metrics.ts';
import { routeOf } from './route-of.ts';
import { statusOf } from './status-of.ts';

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

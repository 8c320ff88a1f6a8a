import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { log } from '../../platform/observability/log.ts';
import { currentLogContext, withLogContext } from '../../platform/observability/log-context.ts';
import { traceFields } from '../../platform/observability/tracing.ts';
import { routeOf } from './route-of.ts';
import { statusOf } from './status-of.ts';

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

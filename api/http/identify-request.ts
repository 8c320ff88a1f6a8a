import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { log } from '../../platform/observability/log.ts';
import { currentLogContext, withLogContext } from '../../platform/observability/log-context.ts';
import { traceFields } from '../../platform/observability/tracing.ts';
import { routeOf } from './route-of.ts';
import { statusOf } from './status-of.ts';

/** Ids of common clients, proxies and trace systems; no spaces, quotes or control characters, which logs would have to escape. */
const REQUEST_ID = /^[\w.:;=+/@~-]{1,128}$/;
/** Requests that programs repeat all day long. Their lines are written at the level `debug`. */
const ROUTINE = /^\/(?:healthz|readyz|console\/|reference\/)/;

/**
 * Takes over the caller's X-Request-Id, or gives the request one, and writes the request's line of the log once its answer has
 * ended: never the path, since it may hold secrets, but the route.
 */
export const identifyRequest: Middleware = async (ctx, next) => {
  const given = ctx.get('X-Request-Id');
  const requestId = REQUEST_ID.test(given) ? given : randomUUID();
  ctx.state.requestId = requestId;
  ctx.set('X-Request-Id', requestId);
  const began = performance.now();
  await withLogContext({ request_id: requestId }, async () => {
    const fields = currentLogContext();
    // The line is written outside of the request's span.
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
        // The caller hung up, or was cut off, before the end of the answer.
        ...(!ctx.res.writableFinished && { aborted: true }),
      };
      log[ROUTINE.test(ctx.req.url ?? '') ? 'debug' : 'info'](line, 'Request');
    });
    await next();
    ctx.state.isAnswered = true;
  });
};

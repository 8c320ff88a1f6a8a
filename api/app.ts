// The whole HTTP surface: middleware order and the route table.
import { randomUUID } from 'node:crypto';
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { sql } from 'kysely';
import { ServiceError } from '../flow/errors.ts';
import type { ApiDeps, Route } from './context.ts';
import { handleErrors } from './errors.ts';
import { executeRoutes } from './execute.ts';
import { jobRoutes } from './jobs.ts';
import { openApiDocument } from './open-api.ts';
import { serveReference } from './reference.ts';

/** Every endpoint of the interface. */
export function apiRoutes(deps: ApiDeps): Route[] {
  return [...executeRoutes(deps), ...jobRoutes(deps)];
}

/** The application over its dependencies. `isReady` turns false when the process is about to stop. */
export function createApp(deps: ApiDeps, isReady: () => boolean): Koa {
  const routes = apiRoutes(deps);
  const document = openApiDocument(routes, deps.config.publicUrl ?? '/');
  const router = new Router({ sensitive: true, strict: true });
  for (const { method, path, handlers } of routes) router[method](path, ...(handlers as Middleware[]));

  router.get('/openapi.json', (ctx) => {
    ctx.body = document;
  });
  router.get('/reference', serveReference);
  router.get('/reference/:file', serveReference);
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const ready = isReady() && (await answers(deps));
    ctx.status = ready ? 200 : 503;
    ctx.body = { status: ready ? 'ready' : 'not ready' };
  });

  const app = new Koa();
  app.use(identifyRequest);
  app.use(handleErrors);
  app.use(router.routes());
  app.use(
    router.allowedMethods({
      throw: true,
      methodNotAllowed: () =>
        new ServiceError('METHOD_NOT_ALLOWED', 'This path does not take that method.') as never,
      notImplemented: () =>
        new ServiceError('METHOD_NOT_ALLOWED', 'This service knows no such method.') as never,
    }),
  );
  app.use(answerNotFound);
  return app;
}

const identifyRequest: Middleware = async (ctx, next) => {
  ctx.state.requestId = randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  await next();
};

const answerNotFound: Middleware = () => {
  throw new ServiceError('NOT_FOUND', 'There is nothing at this path: see /reference.');
};

async function answers({ db, client }: ApiDeps): Promise<boolean> {
  const checks = [sql`select 1`.execute(db), client.connection.ensureConnected()];
  return (await Promise.allSettled(checks)).every(({ status }) => status === 'fulfilled');
}

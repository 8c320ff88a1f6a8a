// The whole HTTP surface: middleware order and the route table.
import { randomUUID } from 'node:crypto';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { ServiceError } from '../flow/errors.ts';
import type { ApiDeps } from './deps.ts';
import type { Route } from './http/context.ts';
import { handleErrors } from './http/errors.ts';
import { createHealth } from './http/health.ts';
import { apiKeyRoutes } from './management/api-keys.ts';
import { auditLogRoutes } from './management/audit-log.ts';
import { memberRoutes } from './management/members.ts';
import { modelKeyRoutes } from './management/model-keys.ts';
import { organizationRoutes } from './management/organizations.ts';
import { projectRoutes } from './management/projects.ts';
import { MCP_PATHS, mcpRoutes } from './mcp/endpoint.ts';
import { preflight } from './mcp/require-allowed-origin.ts';
import { metadataPaths, serveResourceMetadata } from './mcp/resource-metadata.ts';
import { openApiDocument } from './reference/open-api.ts';
import { serveReference } from './reference/page.ts';
import { cancelRoutes } from './runs/cancel.ts';
import { eventRoutes } from './runs/events.ts';
import { executeRoutes } from './runs/execute.ts';
import { forkRoutes } from './runs/fork.ts';
import { jobRoutes } from './runs/jobs.ts';
import { runRoutes } from './runs/list-runs.ts';
import { stepRoutes } from './runs/step.ts';
import { testRunRoutes } from './test-runs/test-run-routes.ts';
import { webhookDeliveryRoutes } from './webhooks/deliveries.ts';
import { webhookResendRoutes } from './webhooks/resends.ts';
import { webhookSecretRoutes } from './webhooks/secrets.ts';

/** A year; what else is on the domain is not ours to say. */
const HSTS = 'max-age=31536000';

/** Every endpoint of the interface. */
export function apiRoutes(deps: ApiDeps): Route[] {
  return [
    ...executeRoutes(deps),
    ...jobRoutes(deps),
    ...cancelRoutes(deps),
    ...eventRoutes(deps),
    ...forkRoutes(deps),
    ...runRoutes(deps),
    ...stepRoutes(deps),
    ...organizationRoutes(deps),
    ...memberRoutes(deps),
    ...projectRoutes(deps),
    ...apiKeyRoutes(deps),
    ...auditLogRoutes(deps),
    ...modelKeyRoutes(deps),
    ...webhookSecretRoutes(deps),
    ...webhookDeliveryRoutes(deps),
    ...webhookResendRoutes(deps),
    ...testRunRoutes(deps),
    ...mcpRoutes(deps),
  ];
}

/** The application over its dependencies. `isReady` turns false when the process is about to stop. */
export function createApp(deps: ApiDeps, isReady: () => boolean): Koa {
  const routes = apiRoutes(deps);
  const document = openApiDocument(routes, deps.config.publicUrl ?? '/');
  const router = new Router({ sensitive: true, strict: true });
  for (const { method, path, handlers } of routes) router[method](path, ...(handlers as Middleware[]));

  for (const path of MCP_PATHS) router.options(path, preflight(deps));
  router.get(metadataPaths(deps.config.mcp.url), serveResourceMetadata(deps));
  router.get('/openapi.json', (ctx) => {
    ctx.body = document;
  });
  router.get('/reference', serveReference);
  router.get('/reference/:file', serveReference);
  const health = createHealth(deps, isReady);
  router.get('/healthz', health.live);
  router.get('/readyz', health.ready);

  const app = new Koa();
  app.on('error', logUnanswered);
  app.use(identifyRequest);
  app.use(secureAnswer(deps.config));
  app.use(handleErrors);
  app.use(requireSoundRequest);
  app.use(answerUnrouted);
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}

/** What `handleErrors` can't see: an answer that was cut off. That a reader has gone is no error of ours. */
function logUnanswered(error: NodeJS.ErrnoException): void {
  const gone = ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '');
  if (!gone) console.error('An answer failed on its way:', error);
}

const identifyRequest: Middleware = async (ctx, next) => {
  ctx.state.requestId = randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  await next();
};

/** For browsers, and caches on the way: what the API answers is its caller's alone, and over https it stays there. */
function secureAnswer({ publicUrl }: ApiDeps['config']): Middleware {
  return async function secureAnswer(ctx, next) {
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cache-Control', 'no-store');
    if (publicUrl?.startsWith('https:')) ctx.set('Strict-Transport-Security', HSTS);
    await next();
  };
}

/** Of which a request has one at most: two could mean two things to two readers. */
const SINGLE_HEADERS = ['host', 'authorization', 'content-type'];

/** Refuses what is valid HTTP on its surface and still cannot be understood in one way. */
const requireSoundRequest: Middleware = async (ctx, next) => {
  const { headersDistinct, httpVersion } = ctx.req;
  const twice = SINGLE_HEADERS.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (twice !== undefined) throw new ServiceError('BAD_REQUEST', `The header ${twice} is given twice.`);
  if (httpVersion === '1.1' && headersDistinct.host === undefined)
    throw new ServiceError('BAD_REQUEST', 'The header host is missing.');
  if (!hasPath(ctx)) throw new ServiceError('BAD_REQUEST', 'The request target is not a valid URL.');
  await next();
};

/** Koa reads the URL when asked for its path, and throws at one in absolute form that is no URL. */
function hasPath(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}

/** Gives a body to what the router leaves without: an unknown path, or a known one with another method (and `Allow`). */
const answerUnrouted: Middleware = async (ctx, next) => {
  await next();
  if (ctx.body !== undefined && ctx.body !== null) return;
  const refused = ctx.status === 405 || ctx.status === 501;
  // Where nothing is, the router says of a method it does not know that none is allowed.
  if (ctx.status === 404 || (refused && ctx.response.get('Allow') === '')) {
    ctx.remove('Allow');
    throw new ServiceError('NOT_FOUND', 'There is nothing at this path: see /reference.');
  }
  if (refused) throw new ServiceError('METHOD_NOT_ALLOWED', `This path does not take ${ctx.method}.`);
};

// The HTTP API: the order of middleware and the whole route table. Each folder holds one kind of request. Shared by
// all: auth/, http/ and reference/, which makes the API document.
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { ServiceError } from '../flow/errors.ts';
import { log } from '../platform/observability/log.ts';
import { describeLife, type HealthCheck, toReadiness } from '../worker/health-check.ts';
import { networkOf } from './auth/sign-in-limiter.ts';
import { codecPreflight, codecRoutes, DECODE_PATH } from './codec/codec-routes.ts';
import { addConsole } from './console/add-console.ts';
import type { ApiDeps } from './deps.ts';
import { differenceRoutes } from './flows/difference-route.ts';
import { draftRoutes } from './flows/draft-routes.ts';
import { flowRoutes } from './flows/flow-routes.ts';
import { versionRoutes } from './flows/version-routes.ts';
import type { Route } from './http/context.ts';
import { handleErrors } from './http/errors.ts';
import { observeRequest } from './http/observe-requests.ts';
import { createRefusalPace } from './http/pace-refusals.ts';
import { handlersOf } from './http/query.ts';
import { RETRY_AFTER_SECONDS } from './http/request-errors.ts';
import { reserveMadeAnswers } from './http/reserve-bytes.ts';
import { preflight } from './mcp/authenticate-mcp.ts';
import { MCP_PATHS, mcpRoutes } from './mcp/endpoint.ts';
import {
  metadataPaths,
  serveResourceMetadata,
  serveSignInMetadata,
  signInMetadataPath,
} from './mcp/resource-metadata.ts';
import { operatorAssistantRoutes } from './operator/assistants.ts';
import { cancelTestRunsRoutes } from './operator/cancel-test-runs.ts';
import { operatorKeyRoutes } from './operator/keys.ts';
import { operatorOrganizationRoutes } from './operator/organizations.ts';
import { stuckRunRoutes } from './operator/stuck-runs.ts';
import { apiKeyRoutes } from './organizations/api-keys.ts';
import { assistantRoutes } from './organizations/assistants.ts';
import { auditLogRoutes } from './organizations/audit-log.ts';
import { creditGrantRoutes, creditRoutes } from './organizations/credits.ts';
import { acceptInvitationRoutes, invitationRoutes } from './organizations/invitations.ts';
import { meRoutes } from './organizations/me.ts';
import { memberRoutes } from './organizations/members.ts';
import { modelKeyRoutes } from './organizations/model-keys.ts';
import { modelRoutes } from './organizations/models.ts';
import { organizationRoutes } from './organizations/organizations.ts';
import { projectRoutes } from './organizations/projects.ts';
import { rateLimitRoutes } from './organizations/rate-limits.ts';
import { usageRoutes } from './organizations/usage.ts';
import { openApiDocument } from './reference/open-api.ts';
import { serveReference } from './reference/page.ts';
import { blockRoutes, outputUrlRoutes } from './runs/blocks.ts';
import { bulkRetryRoutes } from './runs/bulk-retries.ts';
import { cancelRoutes } from './runs/cancel.ts';
import { cancelRunsRoutes } from './runs/cancel-runs.ts';
import { runHourRoutes } from './runs/count-run-hours.ts';
import { eventRoutes } from './runs/events.ts';
import { executeRoutes } from './runs/execute.ts';
import { forkRoutes } from './runs/fork.ts';
import { draftRunRoutes, jobRoutes } from './runs/jobs.ts';
import { runErrorRoutes } from './runs/list-run-errors.ts';
import { allRunsRoutes, operatorRunRoutes, runRoutes } from './runs/list-runs.ts';
import { repeatRoutes } from './runs/repeat.ts';
import { retryRunsRoutes } from './runs/retry-runs.ts';
import { runRequestRoutes } from './runs/run-request.ts';
import { stepRoutes } from './runs/step.ts';
import { createUpdates } from './runs/updates.ts';
import { testCaseRoutes } from './test-cases/test-case-routes.ts';
import { flowTestRunRoutes, testRunRoutes } from './test-cases/test-run-routes.ts';
import { webhookDeliveryRoutes } from './webhooks/deliveries.ts';
import { webhookListenerRoutes } from './webhooks/listeners.ts';
import { webhookRedeliveryRoutes } from './webhooks/redeliveries.ts';
import { webhookSecretRoutes } from './webhooks/secrets.ts';

/** One year, for this host alone: other hosts of the domain may not support HTTPS. */
const HSTS = 'max-age=31536000';

/** Lists every endpoint of the API. */
export function apiRoutes(deps: ApiDeps): Route[] {
  const updates = createUpdates(deps.db);
  return [
    ...executeRoutes(deps),
    ...jobRoutes(deps, updates),
    ...cancelRoutes(deps),
    ...eventRoutes(deps, updates),
    ...blockRoutes(deps),
    ...outputUrlRoutes(deps),
    ...runRequestRoutes(deps),
    ...forkRoutes(deps),
    ...repeatRoutes(deps),
    ...runRoutes(deps),
    ...allRunsRoutes(deps),
    ...runErrorRoutes(deps),
    ...runHourRoutes(deps),
    ...retryRunsRoutes(deps),
    ...bulkRetryRoutes(deps),
    ...cancelRunsRoutes(deps),
    ...stepRoutes(deps, updates),
    ...draftRunRoutes(deps),
    ...meRoutes(deps),
    ...organizationRoutes(deps),
    ...memberRoutes(deps),
    ...invitationRoutes(deps),
    ...acceptInvitationRoutes(deps),
    ...assistantRoutes(deps),
    ...projectRoutes(deps),
    ...flowRoutes(deps),
    ...draftRoutes(deps),
    ...versionRoutes(deps),
    ...differenceRoutes(deps),
    ...apiKeyRoutes(deps),
    ...auditLogRoutes(deps),
    ...modelRoutes(deps),
    ...creditRoutes(deps),
    ...creditGrantRoutes(deps),
    ...usageRoutes(deps),
    ...rateLimitRoutes(deps),
    ...modelKeyRoutes(deps),
    ...webhookSecretRoutes(deps),
    ...webhookDeliveryRoutes(deps),
    ...webhookRedeliveryRoutes(deps),
    ...webhookListenerRoutes(deps),
    ...testCaseRoutes(deps),
    ...flowTestRunRoutes(deps),
    ...testRunRoutes(deps),
    ...operatorKeyRoutes(deps),
    ...operatorOrganizationRoutes(deps),
    ...operatorAssistantRoutes(deps),
    ...operatorRunRoutes(deps),
    ...stuckRunRoutes(deps),
    ...cancelTestRunsRoutes(deps),
    ...codecRoutes(deps),
    ...mcpRoutes(deps),
  ];
}

/** Creates the application. `isReady` turns false when the process is about to stop. */
export function createApp(deps: ApiDeps, isReady: () => boolean): Koa {
  const routes = apiRoutes(deps);
  // Serialized once: slow readers share one copy.
  const document = Buffer.from(JSON.stringify(openApiDocument(routes, deps.config.publicUrl ?? '/')));
  const router = new Router({ sensitive: true, strict: true });
  for (const route of routes) router[route.method](route.path, ...(handlersOf(route) as Middleware[]));

  for (const path of MCP_PATHS) router.options(path, preflight(deps));
  router.options(DECODE_PATH, codecPreflight(deps));
  router.get(metadataPaths(deps.config.mcp.url), serveResourceMetadata(deps));
  router.get(signInMetadataPath(deps.config.mcp.url), serveSignInMetadata(deps));
  router.get('/openapi.json', (ctx) => {
    ctx.type = 'json';
    ctx.body = document;
  });
  router.get('/reference', serveReference);
  router.get('/reference/:file', serveReference);
  addConsole(router, deps.config);
  const health = createHealth(deps, isReady);
  router.get('/healthz', health.live);
  router.get('/readyz', health.ready);

  const app = new Koa();
  app.on('error', logUnanswered);
  app.use(observeRequest);
  app.use(
    handleErrors(
      deps.rateLimited.count,
      createRefusalPace({
        networkOf: (request) => networkOf(request, deps.config.proxies),
        stopping: deps.stopping,
      }),
    ),
  );
  app.use(guardRequest(deps.config));
  app.use(reserveMadeAnswers(deps));
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}

const READER_GONE = ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE', 'ECONNRESET', 'EPIPE'];

/** Logs a response that was cut off, unless the client closed the connection. `handleErrors` cannot see these. */
function logUnanswered(error: NodeJS.ErrnoException): void {
  if (!READER_GONE.includes(error.code ?? '')) log.error({ err: error }, 'An answer was cut off.');
}

/** Headers that may appear once. With two values, two readers could understand two things. */
const SINGLE_HEADERS = ['host', 'authorization', 'content-type'];

/**
 * Forbids caching, keeps browsers on HTTPS where the service uses it, and refuses a request that is valid HTTP but can be
 * understood in more than one way. Answers requests that the router left without a body.
 */
function guardRequest({ publicUrl }: ApiDeps['config']): Middleware {
  return async function guardRequest(ctx, next) {
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cache-Control', 'no-store');
    if (publicUrl?.startsWith('https:')) ctx.set('Strict-Transport-Security', HSTS);
    const { headersDistinct, httpVersion } = ctx.req;
    const twice = SINGLE_HEADERS.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
    if (twice !== undefined) throw new ServiceError('BAD_REQUEST', `Send the header ${twice} once.`);
    if (httpVersion === '1.1' && headersDistinct.host === undefined)
      throw new ServiceError('BAD_REQUEST', 'The header host is missing.');
    if (!hasPath(ctx)) throw new ServiceError('BAD_REQUEST', 'The request target is not a valid URL.');
    await next();
    if (ctx.body === undefined || ctx.body === null) requireRouted(ctx);
  };
}

/** Whether the request target can be parsed. Koa throws for an absolute-form target that is not a URL. */
function hasPath(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}

/** Throws the error of an unknown path, or of a known path with another method (and `Allow`). */
function requireRouted(ctx: Context): void {
  const refused = ctx.status === 405 || ctx.status === 501;
  // For an unknown method the router sends an empty `Allow`, even for unknown paths.
  if (ctx.status === 404 || (refused && ctx.response.get('Allow') === '')) {
    ctx.remove('Allow');
    throw new ServiceError('NOT_FOUND', 'There is nothing at this path: see /reference.');
  }
  if (refused)
    throw new ServiceError(
      'METHOD_NOT_ALLOWED',
      `This path does not accept ${ctx.method}; it accepts ${ctx.response.get('Allow')}.`,
    );
}

/**
 * Creates the two endpoints. `live` (/healthz) always answers 200. `ready` (/readyz) answers 503 when requests would
 * fail or `isReady` returns false. Both name the parts that are down. Missing workers or a missing object store do
 * not make the API unready: runs are accepted and wait, and few responses need the store.
 */
function createHealth(
  { health }: { health: HealthCheck },
  isReady: () => boolean,
): { live: Middleware; ready: Middleware } {
  return {
    async live(ctx) {
      ctx.body = await describeLife(health);
    },
    async ready(ctx) {
      const away = await health.look();
      const { status, body } = toReadiness(away, { serves: isReady(), isStopping: !isReady() });
      ctx.status = status;
      if (status === 503) ctx.set('Retry-After', String(RETRY_AFTER_SECONDS));
      ctx.body = body;
    },
  };
}

// Listens for HTTP requests, and stops without cutting off responses.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookListeners } from '../activities/deliveries/webhook-listeners.ts';
import type { InProcessRuns } from '../activities/in-process-runs.ts';
import { createValidator } from '../platform/json-schema/validator.ts';
import { createHttpGates, type HttpGates, isSaturated } from '../platform/limits/gates.ts';
import { createResolvePublic } from '../platform/net/resolve-public.ts';
import { log } from '../platform/observability/log.ts';
import { observeGates } from '../platform/observability/metrics/gate-metrics.ts';
import { REQUESTS_GRACE_MS } from '../platform/process/end-times.ts';
import type { Dependencies } from '../worker/open-dependencies.ts';
import { createApp } from './app.ts';
import { createApiKeyCache } from './auth/api-key-cache.ts';
import { createMemberCache, createMemberProfiles } from './auth/member-cache.ts';
import { createRateLimitedCounter } from './auth/rate-limited-counter.ts';
import { createSignInLimiter } from './auth/sign-in-limiter.ts';
import { createTokenVerifier } from './auth/verify-token.ts';
import type { ApiDeps } from './deps.ts';
import { createHttpServer } from './http/http-server.ts';
import { createOpenRequests } from './http/open-requests.ts';
import { serviceStopping } from './runs/calls/admit.ts';

/** How long before the end of the grace period open responses are told to end. */
const CUT_OFF_MS = 2_000;
/**
 * How long a stopping process still accepts requests. A proxy that has just sent a request on a connection that is
 * then closed answers it with 502. Each response closes its connection, so few are left afterwards.
 */
export const LINGER_MS = 1_000;

type RunningApi = {
  port: number;
  gates: HttpGates;
  /** Turns readiness off, accepts requests for `lingerMs` more, and waits up to 30 s for requests in flight. */
  close(): Promise<void>;
};

/** Listens on the configured host and port. Rejects when the port is taken. The caller closes `given`. */
export async function serveApi(
  given: Omit<Dependencies, 'connection' | 'close'> & {
    inProcessRuns?: InProcessRuns;
    listeners?: WebhookListeners | undefined;
  },
  { drainMs = REQUESTS_GRACE_MS, lingerMs = 0 }: { drainMs?: number; lingerMs?: number } = {},
): Promise<RunningApi> {
  const { config, db } = given;
  let ready = true;
  const stopping = new AbortController();
  const cutOff = new AbortController();
  const apiKeys = createApiKeyCache(db, given.notifications);
  const validator = createValidator();
  const gates = createHttpGates({
    hasWorker: given.inProcessRuns !== undefined,
    connections: config.databaseConnections,
  });
  const stopMeasuring = observeGates({
    requests: gates.requests,
    bodies: gates.bodies,
    answers: gates.answers,
    run_starts: gates.runStarts,
  });
  const deps: ApiDeps = {
    ...given,
    taskQueue: config.taskQueue,
    apiKeys,
    validator,
    tokens: createTokenVerifier(config),
    signInLimiter: createSignInLimiter({ perMinute: config.failedSignInsPerMinute, proxies: config.proxies }),
    rateLimited: createRateLimitedCounter(db),
    members: createMemberCache(db),
    memberProfiles: createMemberProfiles(db),
    resolvePublic: createResolvePublic(config),
    gates,
    openRequests: createOpenRequests(config.openRequestsMax),
    stopping: stopping.signal,
    cutOff: cutOff.signal,
  };
  const app = createApp(deps, () => ready).callback();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (!ready) closeAfter(response);
    return app(request, response);
  };
  const { server, open, drain } = createHttpServer(answer, {}, () => isSaturated(gates.answers));
  server.listen(config.port, config.host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'the port is taken' : error.message;
    throw new Error(`WEIR_PORT ${config.port} on ${config.host} cannot be used: ${why}.`, { cause: error });
  });
  server.on('error', (error) => log.error({ err: error }, 'A connection could not be accepted.'));
  return {
    port: (server.address() as AddressInfo).port,
    gates,
    async close() {
      ready = false;
      stopping.abort();
      for (const response of open) closeAfter(response);
      if (lingerMs > 0) await sleep(lingerMs);
      const cutOffRest = () => {
        cutOff.abort();
        gates.runStarts.close(serviceStopping());
      };
      const timer = setTimeout(cutOffRest, drainMs - CUT_OFF_MS);
      await drain(drainMs);
      clearTimeout(timer);
      stopMeasuring();
      apiKeys.close();
      await Promise.all([validator.close(), deps.rateLimited.close()]);
    },
  };
}

/** Closes the connection after this response, so that the client's next request goes to another process. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

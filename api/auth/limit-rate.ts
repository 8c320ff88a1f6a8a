// Rate limits per API key, organization and user, and the RateLimit-* headers (docs/reference.md, Limits).
import { ConnectionFailed, logOutage } from '../../db/connection/database-errors.ts';
import { type Quota, type QuotaState, takeRequest } from '../../db/tenants/limits.ts';
import type { Config } from '../../platform/config/config.ts';
import { PermitRejected } from '../../platform/limits/fair-queue.ts';
import { countRefusal } from '../../platform/observability/metrics/http-metrics.ts';
import type { ApiContext, ApiMiddleware } from '../http/context.ts';
import { ownerOf, type Principal, rateLimitSubject } from '../http/principal.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { callerGone, RetryLater, toRejection } from '../http/request-errors.ts';
import type { AuthDeps } from './deps.ts';

/**
 * Counts the request with a token bucket (GCRA), and acquires a permit for it until it is answered or waits for a run. Throws
 * RATE_LIMITED when a quota is used up or the permit does not come in time, and ConnectionFailed while the database is away.
 * Each response has the state of the quota with the least left.
 */
export function limitRate({ config, db, gates }: AuthDeps): ApiMiddleware {
  return async function limitRate(ctx, next) {
    const { principal } = ctx.state;
    show(ctx, await takeRequest(db, quotasOf(config, principal)).catch(uncounted));
    const signal = readerSignal(ctx.res);
    using permit = await gates.requests
      .acquire(ownerOf(principal), { signal })
      .catch((error: unknown): never => {
        if (signal.aborted) throw callerGone();
        throw error instanceof PermitRejected ? toRejection(error, 'requests', REJECTED) : error;
      });
    ctx.state.releaseRequest = permit.release;
    await next();
  };
}

const TOO_MANY = 'Too many requests of this organization are in flight here; send fewer at a time';
const REJECTED = { busy: TOO_MANY, full: TOO_MANY, deadline: TOO_MANY };

function quotasOf(config: Config, principal: Principal): Quota[] {
  const caller = { subject: rateLimitSubject(principal), perMinute: config.rateLimitPerKey };
  const quotas =
    principal.kind === 'user'
      ? [{ name: 'user', ...caller }]
      : [
          { name: 'API key', ...caller },
          {
            name: 'organization',
            subject: principal.organizationId,
            perMinute: config.rateLimitPerOrganization,
          },
        ];
  return quotas.filter(({ perMinute }) => perMinute > 0);
}

/** Sets the RateLimit-* headers. Throws RATE_LIMITED when a quota is used up. */
function show(ctx: ApiContext, states: QuotaState[]): void {
  const exceeded = states.find(({ allowed }) => !allowed);
  const [tightest] = states.toSorted((a, b) => a.remaining - b.remaining);
  const shown = exceeded ?? tightest;
  if (shown)
    ctx.set({
      'RateLimit-Limit': String(shown.perMinute),
      'RateLimit-Remaining': String(shown.remaining),
      'RateLimit-Reset': String(shown.resetSeconds),
    });
  if (!exceeded) return;
  countRefusal(exceeded.name === 'API key' ? 'key' : exceeded.name);
  throw overLimit(exceeded);
}

export function overLimit(quota: Pick<QuotaState, 'name' | 'perMinute' | 'retrySeconds'>): RetryLater {
  const { name, perMinute, retrySeconds } = quota;
  return new RetryLater(
    'RATE_LIMITED',
    `The ${name} is over its ${perMinute} requests per minute: try again in ${retrySeconds} s.`,
    retrySeconds,
  );
}

/** Lets a request pass uncounted while the database takes no writes: requests that only read are still answered. */
function uncounted(error: unknown): [] {
  if (!(error instanceof ConnectionFailed && error.refusesWrites)) throw error;
  logOutage(error);
  return [];
}

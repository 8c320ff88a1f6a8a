// Rate limits per API key, organization and user, and the RateLimit-* headers (docs/reference.md, Limits).
import { ConnectionFailed, logOutage } from '../../db/connection/database-errors.ts';
import { type Quota, type QuotaState, takeRequest } from '../../db/tenants/limits.ts';
import type { Config } from '../../platform/config/config.ts';
import { countRefusal } from '../../platform/observability/metrics/http-metrics.ts';
import type { ApiContext, ApiMiddleware } from '../http/context.ts';
import { type Principal, rateLimitSubject } from '../http/principal.ts';
import { RetryLater } from '../http/request-errors.ts';
import type { AuthDeps } from './deps.ts';

/**
 * Counts the request with a token bucket (GCRA). Throws RATE_LIMITED when a quota is used up, and ConnectionFailed while
 * the database is away. Each response has the state of the quota with the least left. The request queues for database
 * connections under its organization, or under its user until the organization is known.
 */
export function limitRate({ config, db }: AuthDeps): ApiMiddleware {
  return async function limitRate(ctx, next) {
    const quotas = quotasOf(config, ctx.state.principal);
    show(ctx, await takeRequest(db, quotas).catch(uncounted));
    await next();
  };
}

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

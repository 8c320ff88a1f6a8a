// Rate limits per API key, organization and user, and the RateLimit-* headers (docs/reference.md, Limits).
import { onBehalfOf } from '../../db/connection/connection-turns.ts';
import { logOutage } from '../../db/connection/database-errors.ts';
import type { Quota } from '../../db/tenants/limits.ts';
import { log } from '../../platform/observability/log.ts';
import { countRefusal } from '../../platform/observability/metrics/http-metrics.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { ownerOf, rateLimitSubject } from '../http/principal.ts';
import { RetryLater } from '../http/request-errors.ts';
import type { AuthDeps } from './deps.ts';
import type { QuotaState } from './request-leases.ts';

/** Consecutive requests that could not be counted. */
let uncounted = 0;

/**
 * Counts the request with a token bucket (GCRA). Throws RATE_LIMITED when a quota is used up. Each response has the
 * state of the quota with the least left. While the database cannot count, requests of callers without a lease pass
 * without these headers. The rest of the request queues for database connections under its organization, or under its
 * user until the organization is known.
 */
export function limitRate({ config, requestLeases }: AuthDeps): ApiMiddleware {
  return async function limitRate(ctx, next) {
    const { principal } = ctx.state;
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
    const states = await take(quotas.filter(({ perMinute }) => perMinute > 0)).then(counted, notCounted);
    const exceeded = states.find(({ allowed }) => !allowed);
    const [tightest] = states.toSorted((a, b) => a.remaining - b.remaining);
    const shown = exceeded ?? tightest;
    if (shown)
      ctx.set({
        'RateLimit-Limit': String(shown.perMinute),
        'RateLimit-Remaining': String(shown.remaining),
        'RateLimit-Reset': String(shown.resetSeconds),
      });
    if (exceeded) {
      countRefusal(exceeded.name === 'API key' ? 'key' : exceeded.name);
      throw overLimit(exceeded);
    }
    await onBehalfOf(ownerOf(principal), next);
  };

  /**
   * Takes one request from each quota. Stops at the first quota that is used up, which is then the last of the
   * result.
   */
  async function take(quotas: Quota[]): Promise<QuotaState[]> {
    const states: QuotaState[] = [];
    for (const quota of quotas) {
      const state = await requestLeases.take(quota);
      states.push(state);
      if (!state.allowed) break;
    }
    return states;
  }
}

export function overLimit(quota: Pick<QuotaState, 'name' | 'perMinute' | 'retrySeconds'>): RetryLater {
  const { name, perMinute, retrySeconds } = quota;
  return new RetryLater(
    'RATE_LIMITED',
    `The ${name} is over its ${perMinute} requests per minute: try again in ${retrySeconds} s.`,
    retrySeconds,
  );
}

function counted<T>(states: T): T {
  if (uncounted > 0) log.warn({ uncounted }, 'Requests are counted against rate limits again.');
  uncounted = 0;
  return states;
}

/** Logs the first failure of an outage only. */
function notCounted(error: unknown): [] {
  const reason = logOutage(error) ? {} : { err: error };
  if (uncounted === 0) log.warn(reason, 'Requests are not counted against rate limits for now.');
  uncounted += 1;
  return [];
}

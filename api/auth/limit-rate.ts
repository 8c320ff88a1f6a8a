// Rate limits per API key, organization and user, and the RateLimit-* headers (docs/limits-and-credits.md).
import { onBehalfOf } from '../../db/connection/connection-turns.ts';
import { takeRequest } from '../../db/tenants/rate-limits.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { ownerOf, rateLimitSubject } from '../http/principal.ts';
import { RetryLater } from '../http/retry-later.ts';
import type { AuthDeps } from './deps.ts';

/** Counting takes a millisecond. A database that hangs is waited for where it is needed, not here as well. */
export const COUNT_TIMEOUT_MS = 1_000;

/** Requests in a row that this process could not count. */
let uncounted = 0;

/**
 * Counts the request with a token bucket in the database (GCRA), or answers 429. Every answer carries the state of the quota
 * that has least left. While the database cannot count, requests pass uncounted and without these headers: a limit is no
 * reason to refuse work. The rest of the request takes turns at database connections for its organization, or its user.
 */
export function limitRate({ config, db }: AuthDeps): ApiMiddleware {
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
    const states = await countInTime(takeRequest(db, quotas)).then(counted, notCounted);
    const exceeded = states.find(({ allowed }) => !allowed);
    const [tightest] = states.toSorted((a, b) => a.remaining - b.remaining);
    const shown = exceeded ?? tightest;
    if (shown)
      ctx.set({
        'RateLimit-Limit': String(shown.perMinute),
        'RateLimit-Remaining': String(shown.remaining),
        'RateLimit-Reset': String(shown.resetSeconds),
      });
    if (exceeded) throw overLimit(exceeded);
    await onBehalfOf(ownerOf(principal), next);
  };
}

export function overLimit(quota: { name: string; perMinute: number; retrySeconds: number }): RetryLater {
  const { name, perMinute, retrySeconds } = quota;
  return new RetryLater(
    'RATE_LIMITED',
    `The ${name} is over its ${perMinute} requests per minute: try again in ${retrySeconds} s.`,
    retrySeconds,
  );
}

function counted<T>(states: T): T {
  if (uncounted > 0) console.error(`Requests are counted against rate limits again; ${uncounted} were not.`);
  uncounted = 0;
  return states;
}

/** Logs the beginning of an outage, not each of its requests. */
function notCounted(error: unknown): [] {
  if (uncounted === 0) console.error(`Requests are not counted against rate limits for now: ${error}`);
  uncounted += 1;
  return [];
}

function countInTime<T>(counting: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`the database took over ${COUNT_TIMEOUT_MS} ms`));
    const timer = setTimeout(late, COUNT_TIMEOUT_MS);
    counting.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

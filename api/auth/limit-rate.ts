// Rate limits per API key, its organization, and user, and the RateLimit-* fields (spec: 429 rate limited).
import { onBehalfOf } from '../../db/connection/connection-turns.ts';
import { takeRequest } from '../../db/tenants/rate-limits.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { rateLimitSubject } from '../http/principal.ts';
import type { AuthDeps } from './deps.ts';

/** It takes a millisecond: a database that hangs is not waited for twice, here and where it is needed. */
export const COUNT_TIMEOUT_MS = 1_000;

/** How many requests in a row this process could not count. */
let uncounted = 0;

/**
 * Counts the request, or answers 429. Every answer after it carries the state of the quota that has least left. While
 * the database cannot count, requests pass uncounted and without these fields: a limit is no reason to refuse work. From
 * here on the request takes its turns at the database as its organization's, or its user's.
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
    const states = await inTime(takeRequest(db, quotas)).then(counted, notCounted);
    const exceeded = states.find(({ allowed }) => !allowed);
    const [tightest] = states.toSorted((a, b) => a.remaining - b.remaining);
    const told = exceeded ?? tightest;
    if (told)
      ctx.set({
        'RateLimit-Limit': String(told.perMinute),
        'RateLimit-Remaining': String(told.remaining),
        'RateLimit-Reset': String(told.resetSeconds),
      });
    if (exceeded) {
      ctx.set('Retry-After', String(exceeded.retrySeconds));
      throw new ServiceError(
        'RATE_LIMITED',
        `The ${exceeded.name} is over its ${exceeded.perMinute} requests per minute: try again in ${exceeded.retrySeconds} s.`,
      );
    }
    await onBehalfOf(principal.kind === 'user' ? principal.userId : principal.organizationId, next);
  };
}

function counted<T>(states: T): T {
  if (uncounted > 0) console.error(`Requests are counted again; ${uncounted} were not.`);
  uncounted = 0;
  return states;
}

/** Says it once, and not again at every request of an outage, of which the log has a line already. */
function notCounted(error: unknown): [] {
  if (uncounted === 0) console.error(`Requests pass uncounted, over rate limits too: ${error}`);
  uncounted += 1;
  return [];
}

function inTime<T>(counting: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`the database took over ${COUNT_TIMEOUT_MS} ms`));
    const timer = setTimeout(late, COUNT_TIMEOUT_MS);
    counting.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

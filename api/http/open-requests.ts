// Long-running requests are counted per organization: each occupies memory and work while it is open.
import { ServiceError } from '../../flow/errors.ts';
import { countRefusal, openRequests } from '../../platform/observability/metrics/http-metrics.ts';
import type { ApiMiddleware } from './context.ts';
import { RETRY_AFTER_SECONDS, RetryLater } from './request-errors.ts';

/**
 * All organizations together may have this many times the limit of one. Beyond that, organizations above their equal
 * share are rejected.
 */
export const IN_ALL_TIMES = 4;
const FEW = 8;

/** Counts a request of an organization. The returned function ends the count; calling it twice is harmless. */
type Enter = (organizationId: string) => () => void;

/**
 * Counts the open requests of one process, separately for each kind. Both functions throw RATE_LIMITED at the
 * organization's limit. They throw SERVICE_BUSY when all organizations together are at their limit and this one has
 * its equal share, at least eight.
 */
export type OpenRequests = {
  /** Streams of a run's events, and requests that wait for a run that they did not start. */
  follow: Enter;
  /** Requests that wait for their own run. */
  call: Enter;
};

/**
 * Returns the maximum of open requests of both kinds for all organizations together, where each may have `max`; 0 for
 * no limit.
 */
export function countOpenAtMost(max: number): number {
  return 2 * IN_ALL_TIMES * max;
}

/** Creates the counts of one process. An organization may have `max` requests of each kind open; 0 for no limit. */
export function createOpenRequests(max: number): OpenRequests {
  return {
    follow: createCount('follow', max, FOLLOW_LESS),
    call: createCount('call', max, CALL_LESS),
  };
}

/** Counts the request until its response is closed or the request is rejected. */
export function holdOpen(deps: { openRequests: OpenRequests }, kind: keyof OpenRequests): ApiMiddleware {
  return async function holdOpen(ctx, next) {
    const release = deps.openRequests[kind](ctx.state.flowIds.organizationId);
    if (ctx.res.closed) release();
    else ctx.res.once('close', release);
    try {
      await next();
    } catch (error) {
      release();
      throw error;
    }
  };
}

const openByKind = { follow: 0, call: 0 };
openRequests.observe(() => [
  { value: openByKind.follow, labels: { kind: 'follow' } },
  { value: openByKind.call, labels: { kind: 'call' } },
]);

function createCount(kind: keyof OpenRequests, max: number, advice: string): Enter {
  const open = new Map<string, number>();
  let inAll = 0;
  return function enter(organizationId) {
    const own = open.get(organizationId) ?? 0;
    if (max > 0 && own >= max) throw tooManyOpenOfOrganization(max, advice);
    const most = IN_ALL_TIMES * max;
    if (max > 0 && inAll >= most && own >= Math.max(FEW, most / open.size)) throw tooManyOpen();
    open.set(organizationId, own + 1);
    inAll += 1;
    openByKind[kind] += 1;
    let left = false;
    return function release() {
      if (left) return;
      left = true;
      inAll -= 1;
      openByKind[kind] -= 1;
      const others = (open.get(organizationId) ?? 1) - 1;
      if (others > 0) open.set(organizationId, others);
      else open.delete(organizationId);
    };
  };
}

const FOLLOW_LESS =
  'streams of events and requests that wait for a run: close some, or ask for runs without `wait`';
const CALL_LESS = 'calls that wait for their run: wait for some, or start jobs instead';

/** Counts the rejection and makes its error. */
function tooManyOpenOfOrganization(max: number, advice: string): RetryLater {
  countRefusal('open_requests');
  return new RetryLater(
    'RATE_LIMITED',
    `This organization has ${max} requests open here, the most it may have of ${advice}. Try again in ${RETRY_AFTER_SECONDS} s.`,
  );
}

/** Makes the error for when all organizations together have too many requests open. */
export function tooManyOpen(): ServiceError {
  return new ServiceError('SERVICE_BUSY', 'Too many requests wait here for runs. Send the request again.');
}

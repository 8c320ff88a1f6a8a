// Long-running requests are limited per organization: each occupies memory and work while it is open.
import { ServiceError } from '../../flow/errors.ts';
import { createFairQueue, type Permit } from '../../platform/limits/fair-queue.ts';
import { countRefusal, openRequests } from '../../platform/observability/metrics/http-metrics.ts';
import type { ApiContext, ApiMiddleware } from './context.ts';
import { RETRY_AFTER_SECONDS, RetryLater } from './request-errors.ts';
import { releaseAtClose } from './reserve-bytes.ts';

/** All organizations together may have this many times the limit of one open. */
export const IN_ALL_TIMES = 4;
/** As many of these as one may have are reserved for organizations that have at most so many open. */
export const FEW = 8;

/**
 * Acquires a permit for an open request of an organization. Throws RATE_LIMITED when the organization has its limit open, and
 * SERVICE_BUSY when all organizations together have theirs.
 */
type Acquire = (organizationId: string) => Permit;

/** Limits the open requests of one process, separately for each kind. */
export type OpenRequests = {
  /** Streams of a run's events, and requests that wait for a run that they did not start. */
  follow: Acquire;
  /** Requests that wait for their own run. */
  call: Acquire;
};

/**
 * Returns the maximum of open requests of both kinds for all organizations together, where each may have `max`; 0 for
 * no limit.
 */
export function countOpenAtMost(max: number): number {
  return 2 * IN_ALL_TIMES * max;
}

/** Creates the limits of one process. An organization may have `max` requests of each kind open; 0 for no limit. */
export function createOpenRequests(max: number): OpenRequests {
  return {
    follow: createLimit('follow', max, FOLLOW_LESS),
    call: createLimit('call', max, CALL_LESS),
  };
}

/** Holds a permit until the response is closed or the request is rejected. */
export function holdOpen(deps: { openRequests: OpenRequests }, kind: keyof OpenRequests): ApiMiddleware {
  return async function holdOpen(ctx, next) {
    const release = acquireUntilClosed(deps, ctx, kind);
    try {
      await next();
    } catch (error) {
      release();
      throw error;
    }
  };
}

/** Acquires a permit that is released when the response is closed. Returns the function that releases it before. */
export function acquireUntilClosed(
  { openRequests }: { openRequests: OpenRequests },
  { res, state }: Pick<ApiContext, 'res' | 'state'>,
  kind: keyof OpenRequests,
): () => void {
  const { release } = openRequests[kind](state.flowIds.organizationId);
  state.releaseRequest?.();
  releaseAtClose(res, release);
  return release;
}

function createLimit(kind: keyof OpenRequests, max: number, advice: string): Acquire {
  const capacity = max > 0 ? (IN_ALL_TIMES - 1) * max : Infinity;
  const queue = createFairQueue({ capacity, reserved: max, few: FEW, ...(max > 0 && { perKeyMax: max }) });
  openRequests.observe(() => [{ value: queue.count().inFlight, labels: { kind } }]);
  return function acquire(organizationId) {
    const permit = queue.tryAcquire(organizationId);
    if (permit) return permit;
    if (queue.count().inFlight >= capacity) throw tooManyOpen();
    throw tooManyOpenOfOrganization(max, advice);
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

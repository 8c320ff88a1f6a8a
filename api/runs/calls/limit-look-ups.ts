import { createFairQueue, PermitRejected } from '../../../platform/limits/fair-queue.ts';
import { REQUEST_BYTES_WAIT_MS } from '../../../platform/limits/gates.ts';
import type { ResolvePublic } from '../../../platform/net/resolve-public.ts';
import { countRefusal } from '../../../platform/observability/metrics/http-metrics.ts';
import { RETRY_AFTER_SECONDS, RetryLater } from '../../http/request-errors.ts';

/** Each look-up has sockets of its own, for some seconds where DNS does not answer. */
export const LOOK_UPS_MAX = 20;

const lookUps = createFairQueue({
  capacity: Infinity,
  perKeyMax: LOOK_UPS_MAX,
  waitMaxMs: REQUEST_BYTES_WAIT_MS,
});

/**
 * Returns the dependencies of a request with a limit on concurrent DNS look-ups of the organization in this process. A look-up
 * throws RATE_LIMITED without a permit in time.
 */
export function limitLookUps<Deps extends { resolvePublic: ResolvePublic }>(
  deps: Deps,
  organizationId: string,
): Deps {
  let refused: RetryLater | undefined;
  const resolvePublic: ResolvePublic = async (destination) => {
    using _permit = await lookUps.acquire(organizationId).catch((error: unknown) => {
      if (!(error instanceof PermitRejected)) throw error;
      refused ??= tooManyLookUps();
      throw refused;
    });
    return await deps.resolvePublic(destination);
  };
  return { ...deps, resolvePublic };
}

function tooManyLookUps(): RetryLater {
  countRefusal('look_ups');
  return new RetryLater(
    'RATE_LIMITED',
    `Too many hosts are being looked up for the organization: try again in ${RETRY_AFTER_SECONDS} s.`,
  );
}

import { createOwnerLimit } from '../../../platform/limits/owner-limit.ts';
import { type Leave, stay } from '../../../platform/limits/turn-to-leave.ts';
import type { ResolvePublic } from '../../../platform/net/resolve-public.ts';
import { countRefusal } from '../../../platform/observability/metrics/http-metrics.ts';
import { RETRY_AFTER_SECONDS, RetryLater } from '../../http/request-errors.ts';
import { waitInTime } from '../../http/take-bytes.ts';

/** Each look-up has sockets of its own, for some seconds where DNS does not answer. */
export const LOOK_UPS_MAX = 20;

const lookUps = createOwnerLimit(LOOK_UPS_MAX);

/**
 * Returns the dependencies of a request with a limit on concurrent DNS lookups of the organization in this process. A lookup
 * throws RATE_LIMITED without a permit in time. Releases the permit for large work during a lookup, since the owner of a host
 * name controls its duration.
 */
export function lookUpInTurn<Deps extends { resolvePublic: ResolvePublic }>(
  deps: Deps,
  organizationId: string,
  leave: Leave = stay,
): Deps {
  let refused: RetryLater | undefined;
  const refuse = () => (refused ??= tooManyLookUps());
  const lookUp: ResolvePublic = async (destination) => {
    const enter = (signal: AbortSignal) => lookUps.enter(organizationId, signal);
    const end = await waitInTime(enter, undefined, refuse);
    return deps.resolvePublic(destination).finally(end);
  };
  return { ...deps, resolvePublic: (destination) => leave(() => lookUp(destination)) };
}

function tooManyLookUps(): RetryLater {
  countRefusal('look_ups');
  return new RetryLater(
    'RATE_LIMITED',
    `Too many hosts are being looked up for the organization: try again in ${RETRY_AFTER_SECONDS} s.`,
  );
}

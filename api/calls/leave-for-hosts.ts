import type { Leave } from '../../fairness/turn-to-leave.ts';
import type { ResolvePublic } from '../../net/resolve-public.ts';

/**
 * Makes the dependencies of a request that has a turn at large work: the turn is left while a host is looked up, for which
 * whoever has its name chooses how long it takes.
 */
export function leaveForHosts<Deps extends { resolvePublic: ResolvePublic }>(deps: Deps, leave: Leave): Deps {
  return { ...deps, resolvePublic: (destination) => leave(() => deps.resolvePublic(destination)) };
}

import type { Json } from '../../flow/definition.ts';
import { bytesToLoad, type Value } from '../../flow/value.ts';
import { acquireBytes } from '../../platform/limits/gates.ts';
import type { ActivityDeps } from '../activity-deps.ts';
import type { Attempt } from '../attempts/run-attempt.ts';
import type { createRunContexts } from './run-contexts.ts';
import type { createValueResolver } from './value-resolver.ts';

/** Returns what `look` finds in the JSON of a value of a call. Throws PermitRejected where a large value gets no permit. */
export type InspectValue = <T>(
  callId: string,
  value: Value,
  attempt: Attempt,
  look: (json: Json) => T,
) => Promise<T>;

type Deps = Pick<ActivityDeps, 'gates'> & {
  loadContext: ReturnType<typeof createRunContexts>;
  resolve: ReturnType<typeof createValueResolver>['resolve'];
};

/** Creates the function with which loops look into values that are too large for their history. */
export function createInspectValue({ gates, loadContext, resolve }: Deps): InspectValue {
  return async (callId, value, attempt, look) => {
    const { organizationId } = await loadContext(callId);
    using _permit = await acquireBytes(gates.inputs, organizationId, bytesToLoad(value), attempt);
    return look(await resolve(callId, value));
  };
}

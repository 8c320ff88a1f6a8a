import { leaveForObjects } from '../../db/stored-values/leave-for-objects.ts';
import type { Json } from '../../flow/definition.ts';
import { bytesToLoad, type Value } from '../../flow/value.ts';
import type { ActivityDeps } from '../activity-deps.ts';
import { readInTime } from '../attempts/read-in-time.ts';
import { reserveInputMemory } from '../attempts/reserve-memory.ts';
import type { Attempt } from '../attempts/run-attempt.ts';
import { workInTurn } from '../attempts/work-in-turn.ts';
import type { createRunContexts } from './run-contexts.ts';
import type { createValueResolver } from './value-resolver.ts';

/**
 * Returns what `look` finds in the JSON of a value of a call, which it waits to have memory for and, where that is large, its
 * organization's turn at, which it leaves while the object store is awaited. A local attempt throws NoRoom.
 */
export type InspectValue = <T>(
  callId: string,
  value: Value,
  attempt: Attempt,
  look: (json: Json) => T,
) => Promise<T>;

type Deps = Pick<ActivityDeps, 'db' | 'largeValues'> & {
  loadContext: ReturnType<typeof createRunContexts>;
  resolve: ReturnType<typeof createValueResolver>['resolve'];
};

/** Creates the function with which loops look into values that are too large for their history. */
export function createInspectValue({ db, largeValues, loadContext, resolve }: Deps): InspectValue {
  return async (callId, value, attempt, look) => {
    const { organizationId } = await loadContext(callId, attempt);
    const bytes = bytesToLoad(value);
    return reserveInputMemory(largeValues, organizationId, bytes, attempt, () =>
      workInTurn(largeValues.work, organizationId, bytes, attempt, async (leave) =>
        look(await readInTime(db, attempt, resolve(callId, value, leaveForObjects(db, leave)))),
      ),
    );
  };
}

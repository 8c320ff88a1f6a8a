// Test cases begin in turn with the other runs of their process: their test run is accepted as a whole, however many it has.
import { acceptTest, getTest } from '../db/test-runs/test-runs.ts';
import { ServiceError } from '../flow/errors.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { turnAway } from './in-slot.ts';
import type { Attempt } from './run-attempt.ts';

const NEXT_MS = 1_000;

/**
 * Accepts the run of a test case, once, after its organization's turn has come to begin a run; the run then holds the place.
 * Throws CANCELLED.
 */
export async function acceptTestInTurn(
  { db, inProcessRuns, enterPlace }: Pick<ActivityDeps, 'db' | 'inProcessRuns' | 'enterPlace'>,
  executionId: string,
  { signal }: Pick<Attempt, 'signal'>,
): Promise<void> {
  if (!enterPlace) return acceptTest(db, executionId);
  const { organizationId } = await getTest(db, executionId);
  const place = await enterPlace(organizationId, () => signal, { patient: true }).catch((error: unknown) => {
    signal.throwIfAborted();
    // Too many wait, this one has waited long, or the API stops: none of these is the test's fault.
    throw error instanceof ServiceError ? turnAway(error.message, NEXT_MS) : error;
  });
  const leave = inProcessRuns.holdPlace(executionId, place);
  await acceptTest(db, executionId).catch((error: unknown) => {
    leave();
    throw error;
  });
}

// Test cases begin in turn with the other runs of their process: their test run is accepted as a whole, however many it has.
import { acceptTest, getTest } from '../db/test-runs/test-runs.ts';
import { ServiceError } from '../flow/errors.ts';
import { PermitRejected } from '../platform/limits/fair-queue.ts';
import type { ActivityDeps } from './activity-deps.ts';
import type { Attempt } from './attempts/run-attempt.ts';

const NEXT_MS = 1_000;
/** A run whose first block has not begun here by then may be carried out by another process. */
const BEGINS_MAX_MS = 250;

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
    throw error instanceof ServiceError ? new PermitRejected('deadline', 'key', NEXT_MS) : error;
  });
  try {
    await acceptTest(db, executionId);
    inProcessRuns.holdPlace(executionId, place);
    place.holdFor(BEGINS_MAX_MS);
  } catch (error) {
    place.end();
    throw error;
  }
}

// Run starts of test cases pass the gate of their process like other runs: a test run is accepted as a whole.
import * as testRuns from '../db/test-runs/test-runs.ts';
import { ServiceError } from '../flow/errors.ts';
import { PermitRejected } from '../platform/limits/fair-queue.ts';
import type { ActivityDeps } from './activity-deps.ts';
import type { Attempt } from './attempts/run-attempt.ts';

/** The longest wait at the gate. Then the engine repeats the activity later. */
const WAIT_MAX_MS = 2_000;
const NEXT_MS = 1_000;

/**
 * Accepts the run of a test case, once, with a permit of low priority that the run then keeps. Throws CANCELLED, and
 * PermitRejected when there is no permit in time.
 */
export async function acceptTest(
  { db, inProcessRuns, runStarts }: Pick<ActivityDeps, 'db' | 'inProcessRuns' | 'runStarts'>,
  executionId: string,
  { signal }: Pick<Attempt, 'signal'>,
): Promise<void> {
  if (!runStarts) return testRuns.acceptTest(db, executionId);
  const { organizationId } = await testRuns.getTest(db, executionId);
  const request = { priority: 'low', waitMaxMs: WAIT_MAX_MS, signal } as const;
  const permit = await runStarts.acquire(organizationId, request).catch((error: unknown) => {
    signal.throwIfAborted();
    // The API is stopping.
    throw error instanceof ServiceError ? new PermitRejected('deadline', 'key', NEXT_MS) : error;
  });
  try {
    await testRuns.acceptTest(db, executionId);
    inProcessRuns.holdPermit(executionId, permit);
  } catch (error) {
    permit.release();
    throw error;
  }
}

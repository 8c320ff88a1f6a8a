// Run starts of test cases pass the gate of their process like other runs: a test run is accepted as a whole.
import * as testRuns from '../db/test-runs/test-runs.ts';
import { ServiceError, sanitizeMessage } from '../flow/errors.ts';
import { requireToolSteps } from '../flow/tool-calls.ts';
import { PermitRejected } from '../platform/limits/fair-queue.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { acquire } from './attempts/reschedule.ts';
import type { Attempt } from './attempts/run-attempt.ts';

const NEXT_MS = 1_000;

/**
 * Accepts the run of a test case, once, with a permit of low priority that the run then keeps. Throws CANCELLED,
 * PermitRejected when there is no permit in time, and, after it has recorded this as the verdict, the error of a case with tools
 * that the flow cannot take.
 */
export async function acceptTest(
  {
    db,
    definitions,
    inProcessRuns,
    runStarts,
  }: Pick<ActivityDeps, 'db' | 'definitions' | 'inProcessRuns' | 'runStarts'>,
  executionId: string,
  attempt: Pick<Attempt, 'signal' | 'waitMaxMs'>,
): Promise<void> {
  const { organizationId, input, flowVersionId } = await testRuns.getTest(db, executionId);
  if (input.tools)
    try {
      requireToolSteps(await definitions.get(flowVersionId));
    } catch (error) {
      if (error instanceof ServiceError)
        await testRuns.recordVerdict(db, executionId, {
          status: 'error',
          why: sanitizeMessage(error.message),
        });
      throw error;
    }
  if (!runStarts) return testRuns.acceptTest(db, executionId);
  const permit = await acquire(runStarts, organizationId, attempt, 'low').catch((error: unknown) => {
    attempt.signal.throwIfAborted();
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

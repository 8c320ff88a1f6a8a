import { inTransaction } from '../../db/connect.ts';
import { findTestRun } from '../../db/test-runs/test-results.ts';
import { listTestCaseRunsUnderWay } from '../../db/test-runs/test-run-cancellation.ts';
import { cancelRunWorkflow, cancelTestRunWorkflow } from '../../temporal/cancel-workflow.ts';
import { type Caller, requireVisibleFlow } from '../auth/caller.ts';
import type { ApiDeps } from '../deps.ts';
import { describeTestRun, type TestRun } from './describe-test-run.ts';
import { markTestRunCancelled } from './mark-test-run-cancelled.ts';

/**
 * Cancels a test run and the runs of its cases, and returns its state; no further case begins. Does nothing for an
 * ended test run. May be repeated; is recorded once. Throws NOT_FOUND with a message about `what`.
 */
export async function cancelTestRun(
  deps: ApiDeps,
  { access, author }: Caller,
  testRunId: string,
  what = 'test run',
): Promise<{ had: 'ended' | 'not ended'; testRun: TestRun }> {
  const { db } = deps;
  const row = await findTestRun(db, testRunId);
  const flow = await requireVisibleFlow(deps, row?.flow_id, access, what);
  const { flowId, organizationId } = flow;
  if (row?.status !== 'started')
    return { had: 'ended', testRun: await describeTestRun(deps, testRunId, flow) };
  await inTransaction(db, async (tx) => {
    await requireVisibleFlow({ db: tx }, flowId, access, what);
    await markTestRunCancelled(tx, author, { id: testRunId, organizationId, flowId });
  });
  await cancelWorkflows(deps, testRunId);
  return { had: 'not ended', testRun: await describeTestRun(deps, testRunId, flow) };
}

/** Cancels the test run's workflow first, so that no further case begins, then the runs of its cases. */
export async function cancelWorkflows(deps: ApiDeps, testRunId: string): Promise<void> {
  if (!(await cancelTestRunWorkflow(deps, testRunId))) return;
  for (const run of await listTestCaseRunsUnderWay(deps.db, testRunId))
    if (!(await cancelRunWorkflow(deps, run))) return;
}

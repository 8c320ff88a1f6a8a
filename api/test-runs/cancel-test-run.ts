import type { ProjectAccess } from '../../db/tenants/project-access.ts';
import { listTestsUnderWay, requestTestRunCancel } from '../../db/test-runs/cancel-test-run.ts';
import { findTestRun } from '../../db/test-runs/test-results.ts';
import { cancelRunWorkflow, cancelTestRunWorkflow } from '../../engine/cancel-workflow.ts';
import type { ApiDeps } from '../deps.ts';
import { describeTestRun, type TestRun } from './describe-test-run.ts';
import { requireLockedFlow, requireVisibleFlow } from './require-visible-flow.ts';
import type { Audit } from './test-case.ts';

/**
 * Cancels a test run with the runs of its cases, and answers how it stands; cases that were not begun are not begun.
 * `had` says that it had ended before, and is left as it is. May be repeated; `audit` is written once. Throws NOT_FOUND.
 */
export async function cancelTestRun(
  deps: ApiDeps,
  access: ProjectAccess,
  testRunId: string,
  audit: Audit,
): Promise<{ had: 'ended' | 'not ended'; testRun: TestRun }> {
  const { db } = deps;
  const row = await findTestRun(db, testRunId);
  const { flowId, organizationId } = await requireVisibleFlow(deps, row?.flow_id, access, 'test run');
  if (row?.status !== 'started')
    return { had: 'ended', testRun: await describeTestRun(deps, testRunId, flowId) };
  await db.transaction().execute(async (tx) => {
    await requireLockedFlow(tx, flowId, access, 'test run');
    if (!(await requestTestRunCancel(tx, testRunId))) return;
    const details = { flow_id: flowId };
    await audit(tx, { organizationId, action: 'test_run.cancel', resourceId: testRunId, details });
  });
  await tellEngine(deps, testRunId);
  return { had: 'not ended', testRun: await describeTestRun(deps, testRunId, flowId) };
}

/** The test run before its cases, so that it begins no further one. */
async function tellEngine(deps: ApiDeps, testRunId: string): Promise<void> {
  if (!(await cancelTestRunWorkflow(deps, testRunId))) return;
  for (const run of await listTestsUnderWay(deps.db, testRunId))
    if (!(await cancelRunWorkflow(deps, run))) return;
}

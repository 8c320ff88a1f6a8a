import { inTransaction } from '../../db/connect.ts';
import { requestCancel } from '../../db/runs/run-cancellation.ts';
import { findFlowOfRun, findRun } from '../../db/runs/runs.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { findTestOfRun, findTestRun } from '../../db/test-runs/test-results.ts';
import { ServiceError } from '../../flow/errors.ts';
import { cancelUnderWay } from '../../temporal/cancel-workflow.ts';
import type { Caller } from '../auth/caller.ts';
import { notVisible, requireVisibleFlow } from '../auth/require-visible-flow.ts';
import type { ApiDeps } from '../deps.ts';
import { describeRun } from '../runs/run-shapes/describe-run.ts';
import { cancelTestRun } from '../test-cases/cancel-test-run.ts';

/**
 * Cancels the run or test run with the id, also of an unpublished flow, and returns its new state. Throws NOT_FOUND,
 * and CONFLICT for a test case that has not begun.
 */
export async function cancelRunOrTestRun(deps: ApiDeps, caller: Caller, id: string) {
  if (await findTestRun(deps.db, id)) {
    const { testRun } = await cancelTestRun(deps, caller, id, 'run');
    return { test_run: testRun };
  }
  const { db } = deps;
  const test = await findTestOfRun(db, id);
  const known = (await findFlowOfRun(db, id)) ?? test?.flow_id;
  const { flowId } = await requireVisibleFlow(deps, known, caller.access, 'run');
  const run = await findRun(db, flowId, id);
  if (!run) throw notBegun(test?.test_run_id);
  if (run.status === 'completed' || run.status === 'failed')
    return { flow_run: await describeRun(deps, run) };
  await inTransaction(db, async (tx) => {
    const { organizationId } = await requireVisibleFlow({ db: tx }, flowId, caller.access, 'run');
    if (!(await requestCancel(tx, id)) || run.cancel_requested_at) return;
    const details = { flow_id: flowId };
    await recordChange(tx, caller.author, { organizationId, action: 'run.cancel', resourceId: id, details });
  });
  await cancelUnderWay(deps, id);
  return { flow_run: await describeRun(deps, (await findRun(db, flowId, id)) ?? run) };
}

function notBegun(testRunId: string | undefined): ServiceError {
  if (testRunId === undefined) return notVisible('run');
  return new ServiceError('CONFLICT', `This run has not begun yet: cancel its test run ${testRunId}.`);
}

// cancel_run: any run that the caller may see, those of flows never published too; or a whole test run.

import { requestCancel } from '../../db/runs/cancel-run.ts';
import { findFlowOfRun, findRun } from '../../db/runs/runs.ts';
import { insertAuditEntry } from '../../db/tenants/audit-entries.ts';
import { findTestOfRun, findTestRun } from '../../db/test-runs/test-results.ts';
import { cancelUnderWay } from '../../engine/cancel-workflow.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { ApiDeps } from '../deps.ts';
import type { UserPrincipal } from '../http/principal.ts';
import { describeRun } from '../runs/describe-run.ts';
import { cancelTestRun } from './cancel-test-run.ts';
import { notVisible, requireLockedFlow, requireVisibleFlow } from './require-visible-flow.ts';
import type { Audit } from './test-case.ts';

type Call = { deps: ApiDeps; user: UserPrincipal; requestId: string };

/** Answers the run, or the test run, as it stands then. Throws NOT_FOUND, and CONFLICT for a case that has not begun. */
export async function cancelRunOrTestRun({ deps, user, requestId }: Call, id: string) {
  const audit: Audit = (tx, change) => insertAuditEntry(tx, { ...change, actor: user.userId, requestId });
  if (await findTestRun(deps.db, id)) {
    const { testRun } = await cancelTestRun(deps, user, id, audit);
    return { test_run: testRun };
  }
  const { db } = deps;
  const test = await findTestOfRun(db, id);
  const { flowId } = await requireVisibleFlow(
    deps,
    (await findFlowOfRun(db, id)) ?? test?.flow_id,
    user,
    'run',
  );
  const run = await findRun(db, flowId, id);
  if (!run) throw notBegun(test?.test_run_id);
  if (run.status === 'completed' || run.status === 'failed') return { flow_run: await describeRun(db, run) };
  await db.transaction().execute(async (tx) => {
    const { organizationId } = await requireLockedFlow(tx, flowId, user, 'run');
    await requestCancel(tx, id);
    if (run.cancel_requested_at) return;
    const details = { flow_id: flowId };
    await audit(tx, { organizationId, action: 'run.cancel', resourceId: id, details });
  });
  await cancelUnderWay(deps, id);
  return { flow_run: await describeRun(db, (await findRun(db, flowId, id)) ?? run) };
}

function notBegun(testRunId: string | undefined): ServiceError {
  if (testRunId === undefined) return notVisible('run');
  return new ServiceError('CONFLICT', `This run has not begun yet: cancel its test run ${testRunId}.`);
}

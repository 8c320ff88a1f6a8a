import { type Db, inTransaction } from '../../db/connect.ts';
import { announceCancelled } from '../../db/runs/cancel-runs.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import {
  type CancellableTestRun,
  listTestCaseRunsUnderWay,
  requestTestRunCancel,
} from '../../db/test-runs/test-run-cancellation.ts';

/**
 * Cancels a test run, unless it has ended or was cancelled before, and the runs of its cases, which workers hear of. Returns
 * the ids of these runs; undefined when this changed nothing.
 */
export function cancelTestRun(
  db: Db,
  author: Author,
  { id, organizationId, flowId }: CancellableTestRun,
): Promise<string[] | undefined> {
  return inTransaction(db, async (tx) => {
    if (!(await requestTestRunCancel(tx, id))) return undefined;
    const runs = (await listTestCaseRunsUnderWay(tx, id)).map(({ executionId }) => executionId);
    await announceCancelled(tx, runs);
    await recordChange(tx, author, {
      ...{ organizationId, action: 'test_run.cancel', resourceId: id },
      details: { flow_id: flowId },
    });
    return runs;
  });
}

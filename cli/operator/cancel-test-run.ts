import { markTestRunCancelled } from '../../api/test-cases/mark-test-run-cancelled.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { announceCancelled } from '../../db/runs/cancel-runs.ts';
import type { Author } from '../../db/tenants/audit-entries.ts';
import {
  type CancellableTestRun,
  listTestCaseRunsUnderWay,
} from '../../db/test-runs/test-run-cancellation.ts';

/**
 * Cancels a test run, unless it has ended or was cancelled before, and the runs of its cases, which workers hear of. Returns
 * the ids of these runs; undefined when this changed nothing.
 */
export function cancelTestRun(
  db: Db,
  author: Author,
  testRun: CancellableTestRun,
): Promise<string[] | undefined> {
  return inTransaction(db, async (tx) => {
    if (!(await markTestRunCancelled(tx, author, testRun))) return undefined;
    const runs = (await listTestCaseRunsUnderWay(tx, testRun.id)).map(({ executionId }) => executionId);
    await announceCancelled(tx, runs);
    return runs;
  });
}

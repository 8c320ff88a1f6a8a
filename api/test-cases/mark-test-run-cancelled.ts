import type { Tx } from '../../db/connect.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import { requestTestRunCancel } from '../../db/test-runs/test-run-cancellation.ts';

/**
 * Marks a test run and the runs of its cases as cancelled, unless it has ended or is marked. Returns whether it did.
 */
export async function markTestRunCancelled(
  tx: Tx,
  author: Author,
  { id, organizationId, flowId }: { id: string; organizationId: string; flowId: string },
): Promise<boolean> {
  if (!(await requestTestRunCancel(tx, id, author.actor))) return false;
  const details = { flow_id: flowId };
  await recordChange(tx, author, { organizationId, action: 'test_run.cancel', resourceId: id, details });
  return true;
}

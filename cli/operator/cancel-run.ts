import type { Tx } from '../../db/connect.ts';
import { cancelFromAfar } from '../../db/runs/run-cancellation.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';

/**
 * Cancels a run on behalf of an operator: a worker hears of it at once. One that has ended stays as it is. Answers whether the
 * run was cancelled by this.
 */
export async function cancelRun(tx: Tx, author: Author, executionId: string): Promise<boolean> {
  const organizationId = await cancelFromAfar(tx, executionId);
  if (organizationId !== undefined)
    await recordChange(tx, author, { organizationId, action: 'run.cancel', resourceId: executionId });
  return organizationId !== undefined;
}

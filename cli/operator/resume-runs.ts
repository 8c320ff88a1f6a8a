import { type Db, inTransaction } from '../../db/connect.ts';
import { requestUnpark } from '../../db/runs/parked-runs.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { operator } from './operator.ts';

/** Requests that a parked run, or all of them, be unparked, and records it for each organization. Answers how many calls. */
export function resumeRuns(db: Db, executionId: string | 'all'): Promise<number> {
  const author = operator();
  return inTransaction(db, async (tx) => {
    const calls = await requestUnpark(tx, executionId);
    const byOrganization = Object.groupBy(calls, (call) => call.organizationId);
    for (const [organizationId, { length: resumed } = []] of Object.entries(byOrganization))
      await recordChange(
        tx,
        author,
        executionId === 'all'
          ? { organizationId, action: 'runs.resume', resourceId: organizationId, details: { resumed } }
          : { organizationId, action: 'run.resume', resourceId: executionId },
      );
    return calls.length;
  });
}

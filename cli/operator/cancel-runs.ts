import { type Db, inTransaction } from '../../db/connect.ts';
import { announceCancelled, cancelRuns, findCancellable } from '../../db/runs/cancel-runs.ts';
import { listRunPage } from '../../db/runs/list-run-page.ts';
import type { RunStatus } from '../../db/schema.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { note } from '../terminal/print-line.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { operator } from './operator.ts';

const PAGE = 200;

export type CancelFilter = {
  organization?: string;
  project?: string;
  flow?: string;
  status?: RunStatus;
  since?: Date;
  until?: Date;
};

/** Cancels all runs that the filter finds, page by page; workers end them. It may be cut off and repeated. */
export async function cancelMatching(
  db: Db,
  { dryRun, ...filter }: CancelFilter & { dryRun?: boolean },
): Promise<CommandResult> {
  const author = operator();
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await listRunPage(db, { until: new Date(), ...filter, open: true, after, limit: PAGE });
    const found = page.runs.map((run) => run.execution_id);
    if (dryRun) ids.push(...(await findCancellable(db, found)));
    else
      await inTransaction(db, async (tx) => {
        const cancelled = await cancelRuns(tx, found);
        await announceCancelled(
          tx,
          cancelled.map(({ id }) => id),
        );
        for (const [organizationId, runs = []] of Object.entries(
          Object.groupBy(cancelled, (run) => run.organizationId),
        ))
          await recordChange(tx, author, {
            ...{ organizationId, action: 'runs.cancel', resourceId: organizationId },
            details: { ...JSON.parse(JSON.stringify(filter)), cancelled: runs.length },
          });
        return cancelled.map(({ id }) => id);
      }).then((done) => ids.push(...done));
    after = page.next ?? undefined;
    if (after) note(`${ids.length} runs so far …`);
  } while (after);
  const text = dryRun
    ? [...ids, `${ids.length} runs would be cancelled.`].join('\n')
    : `${ids.length} runs are being cancelled: they end within a minute while a worker runs.`;
  return { json: dryRun ? { matching: ids, cancelled: [] } : { cancelled: ids }, text };
}

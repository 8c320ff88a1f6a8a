import { type Db, inTransaction } from '../../db/connect.ts';
import { announceCancelled, cancelRuns, findCancellable } from '../../db/runs/cancel-runs.ts';
import { listRunPage } from '../../db/runs/list-run-page.ts';
import type { RunStatus } from '../../db/schema.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import { countRuns } from '../terminal/bulk-result.ts';
import { confirmMany } from '../terminal/confirm-many.ts';
import { note } from '../terminal/print-line.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { operator } from './operator.ts';
import type { RunScope } from './run-scope.ts';

const PAGE = 200;

type CancelFilter = RunScope & { status?: RunStatus; since?: Date; until?: Date };

/**
 * Cancels all runs that the filter finds when it begins, page by page; workers end them. Asks first where these are many. It
 * may be cut off and repeated.
 */
export async function cancelMatching(
  db: Db,
  filter: CancelFilter,
  { dryRun, yes }: { dryRun?: boolean; yes?: boolean },
): Promise<CommandResult> {
  const matching = await findMatching(db, filter);
  if (dryRun) {
    const text = [...matching, `${countRuns(matching.length)} would be cancelled.`].join('\n');
    return { json: { matching, cancelled: [] }, text };
  }
  await confirmMany(matching.length, 'cancel', yes);
  const author = operator();
  const ids: string[] = [];
  for (let from = 0; from < matching.length; from += PAGE) {
    if (from > 0) note(`${ids.length} runs so far …`);
    ids.push(...(await cancelPage(db, author, matching.slice(from, from + PAGE), filter)));
  }
  const text =
    ids.length === 0
      ? 'No run could be cancelled: all have ended.'
      : `${countRuns(ids.length)} cancelled. Those under way end within a minute if a worker runs.`;
  return { json: { cancelled: ids }, text };
}

async function findMatching(db: Db, filter: CancelFilter): Promise<string[]> {
  const until = new Date();
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await listRunPage(db, { until, ...filter, open: true, after, limit: PAGE });
    const found = page.runs.map((run) => run.execution_id);
    ids.push(...(await findCancellable(db, found)));
    after = page.next ?? undefined;
  } while (after);
  return ids;
}

/** Cancels those of these runs that can still be, and records it for each organization. Returns them. */
function cancelPage(db: Db, author: Author, ids: string[], filter: CancelFilter): Promise<string[]> {
  return inTransaction(db, async (tx) => {
    const cancelled = await cancelRuns(tx, ids);
    const done = cancelled.map(({ id }) => id);
    await announceCancelled(tx, done);
    for (const [organizationId, runs = []] of Object.entries(
      Object.groupBy(cancelled, (run) => run.organizationId),
    ))
      await recordChange(tx, author, {
        ...{ organizationId, action: 'runs.cancel', resourceId: organizationId },
        details: { ...JSON.parse(JSON.stringify(filter)), cancelled: runs.length },
      });
    return done;
  });
}

import { markTestRunCancelled } from '../../api/test-cases/mark-test-run-cancelled.ts';
import { type Db, inTransaction, type Tx } from '../../db/connect.ts';
import { listRunPage } from '../../db/runs/list-runs.ts';
import { cancelFromAfar, cancelRuns, findCancellable } from '../../db/runs/run-cancellation.ts';
import type { RunStatus } from '../../db/schema.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import {
  type CancellableTestRun,
  listCancellableTestRuns,
  listTestCaseRunsUnderWay,
} from '../../db/test-runs/test-run-cancellation.ts';
import { confirmMany, countRuns } from '../terminal/bulk-runs.ts';
import type { Scope } from '../terminal/parse-argument.ts';
import { type CommandResult, note } from '../terminal/print.ts';
import { operator } from './on-database.ts';

const PAGE = 200;

type CancelFilter = Scope & { status?: RunStatus; since?: Date; until?: Date };

/**
 * Cancels all runs and test runs that the filter finds when it begins, the runs page by page; workers end them. Asks first
 * where these are many. It may be cut off and repeated.
 */
export async function cancelMatching(
  db: Db,
  filter: CancelFilter,
  { dryRun, yes }: { dryRun?: boolean; yes?: boolean },
): Promise<CommandResult> {
  const testRuns = await findTestRuns(db, filter);
  const matching = await findMatching(db, filter);
  if (dryRun) {
    const matchingTestRuns = testRuns.map(({ id }) => id);
    const text = [
      ...matching,
      ...matchingTestRuns.map((id) => `${id}  (test run)`),
      `${countBoth(matching.length, testRuns.length)} would be cancelled.`,
    ].join('\n');
    return { json: { matching, matchingTestRuns, cancelled: [], cancelledTestRuns: [] }, text };
  }
  await confirmMany(matching.length + testRuns.length, 'cancel', yes);
  const author = operator();
  const ids: string[] = [];
  const cancelledTestRuns: string[] = [];
  // Test runs first, so that they begin no further case.
  for (const testRun of testRuns) {
    const ofCases = await cancelTestRun(db, author, testRun);
    if (!ofCases) continue;
    cancelledTestRuns.push(testRun.id);
    ids.push(...ofCases);
  }
  for (let from = 0; from < matching.length; from += PAGE) {
    if (from > 0) note(`${ids.length} runs so far …`);
    ids.push(...(await cancelPage(db, author, matching.slice(from, from + PAGE), filter)));
  }
  const text =
    ids.length + cancelledTestRuns.length === 0
      ? matching.length + testRuns.length === 0
        ? 'No run matches.'
        : 'No run could be cancelled: all have ended.'
      : `${countBoth(ids.length, cancelledTestRuns.length)} cancelled. Those under way end within a minute if a worker runs.`;
  return { json: { cancelled: ids, cancelledTestRuns }, text };
}

function countBoth(runs: number, testRuns: number): string {
  return testRuns === 0
    ? countRuns(runs)
    : `${countRuns(runs)} and ${testRuns} test ${testRuns === 1 ? 'run' : 'runs'}`;
}

/** Test runs are under way until they have ended: they have no other status to look for. */
async function findTestRuns(db: Db, { status = 'started', ...scope }: CancelFilter) {
  return status === 'started' ? listCancellableTestRuns(db, scope) : [];
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
    for (const [organizationId, runs = []] of Object.entries(
      Object.groupBy(cancelled, (run) => run.organizationId),
    ))
      await recordChange(tx, author, {
        organizationId,
        action: 'runs.cancel',
        resourceId: organizationId,
        details: { ...JSON.parse(JSON.stringify(filter)), cancelled: runs.length },
      });
    return done;
  });
}

/**
 * Cancels a test run, unless it has ended or was cancelled before, and the runs of its cases, which workers hear of. Returns
 * the ids of these runs; undefined when this changed nothing.
 */
function cancelTestRun(db: Db, author: Author, testRun: CancellableTestRun): Promise<string[] | undefined> {
  return inTransaction(db, async (tx) => {
    if (!(await markTestRunCancelled(tx, author, testRun))) return undefined;
    const runs = (await listTestCaseRunsUnderWay(tx, testRun.id)).map(({ executionId }) => executionId);
    return runs;
  });
}

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

import type { Client } from '@temporalio/client';
import type { Db } from '../db/connect.ts';
import { listUnfinished, type Unfinished } from '../db/upkeep/list-unfinished.ts';
import { workflowIdOf } from '../flow/run.ts';
import { findEndedWorkflows } from './find-ended-workflows.ts';
import { type Failures, repairEach, throwFailures } from './repair-each.ts';

/** How many rows the engine is asked about at once. */
const PAGE = 500;

/** A row that has not ended, with its workflow's id and how that stands: `open`, `missing`, or as it ended. */
export type Reconciled = Unfinished & { workflowId: string; state: string };

/**
 * Walks over all rows that are unfinished and older than `quietSeconds`, until `signal` aborts, and has `mend` see to
 * those that have no open workflow, or are to be cancelled. What is as it should be costs one question for 500 rows and
 * writes nothing. Rejects at the end when some could not be mended.
 */
export async function reconcileUnfinished(
  { db, client }: { db: Db; client: Client },
  table: Parameters<typeof listUnfinished>[1],
  quietSeconds: number,
  mend: (row: Reconciled) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const failures: Failures = { count: 0 };
  let rows: Unfinished[];
  let after: Unfinished | undefined;
  do {
    rows = await listUnfinished(db, table, { quietSeconds, after, limit: PAGE });
    after = rows.at(-1);
    const all = rows.map((row) => ({
      ...row,
      workflowId: workflowIdOf({ callId: row.id, executionId: row.continues ?? row.id }),
    }));
    const ended = await findEndedWorkflows(
      client,
      all.map((row) => row.workflowId),
      signal,
    );
    const due = all
      .map((row) => ({ ...row, state: ended.get(row.workflowId) ?? 'open' }))
      .filter((row) => row.cancelled || row.state !== 'open');
    await repairEach(due, mend, failures, signal);
  } while (rows.length === PAGE && !signal?.aborted);
  throwFailures(failures);
}

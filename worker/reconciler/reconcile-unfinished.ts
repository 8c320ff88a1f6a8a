import type { Client } from '@temporalio/client';
import type { Db } from '../../db/connect.ts';
import { listUnfinished, type UnfinishedRow } from '../../db/upkeep/list-unfinished.ts';
import { workflowIdOf } from '../../flow/run.ts';
import { reconcilerFindings } from '../../platform/observability/metrics/worker-metrics.ts';
import { findEndedWorkflows } from './find-ended-workflows.ts';
import { type Failures, repairEach, throwFailures } from './repair-each.ts';

/** Rows that the engine is asked about at once. */
const PAGE = 500;

/** An unfinished row with its workflow's id and state: `open`, `missing`, or the status with which the workflow ended. */
export type Reconciled = UnfinishedRow & { workflowId: string; state: string };

type Work = { repair(row: Reconciled): Promise<void> };

/**
 * Walks over all unfinished rows older than `quietSeconds`, until `signal` aborts, and calls `repair` for those that have no
 * open workflow or are to be cancelled. Rows in order cost nine questions at most for each 500, and no write. Rejects at the
 * end when some rows could not be repaired.
 */
export async function reconcileUnfinished(
  { db, client }: { db: Db; client: Client },
  table: Parameters<typeof listUnfinished>[1],
  quietSeconds: number,
  { repair }: Work,
  signal?: AbortSignal,
): Promise<void> {
  const failures: Failures[] = [];
  let rows: UnfinishedRow[];
  let after: UnfinishedRow | undefined;
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
    const failed = await repairEach(
      due,
      (row) => row.id,
      async (row) => {
        await repair(row);
        if (row.state !== 'open') reconcilerFindings.add(1, { kind: table });
      },
      signal,
    );
    failures.push(failed);
  } while (rows.length === PAGE && !signal?.aborted);
  throwFailures(...failures);
}

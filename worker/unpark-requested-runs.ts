import type { Client } from '@temporalio/client';
import type { Db } from '../db/connect.ts';
import { listUnparkRequested } from '../db/runs/parked-runs.ts';
import { UNPARK_SIGNAL, workflowIdOf } from '../flow/run.ts';
import { type Failures, repairEach, throwFailures } from './repair-each.ts';
import { withOpenWorkflow } from './with-open-workflow.ts';

const UNPARKED_MAX = 500;

/** Signals up to 500 parked runs to go on, as an operator has requested; each records in its row that it is unparked. */
export async function unparkRequestedRuns(
  { db, client }: { db: Db; client: Client },
  signal?: AbortSignal,
): Promise<void> {
  const failures: Failures = { count: 0 };
  await repairEach(
    await listUnparkRequested(db, UNPARKED_MAX),
    (run) =>
      withOpenWorkflow(client, { workflowId: workflowIdOf(run) }, (workflow) =>
        workflow.signal(UNPARK_SIGNAL),
      ),
    failures,
    signal,
  );
  throwFailures(failures);
}

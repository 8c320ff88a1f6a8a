import type { Client } from '@temporalio/client';
import type { Db } from '../db/connect.ts';
import { listResumed } from '../db/runs/parked-runs.ts';
import { RESUME, workflowIdOf } from '../flow/run.ts';
import { type Failures, repairEach, throwFailures } from './repair-each.ts';
import { withOpenWorkflow } from './with-open-workflow.ts';

const RESUMED_MAX = 500;

/** Resumes up to 500 parked runs for which an operator has asked; each records in its row that it continues. */
export async function resumeParked(
  { db, client }: { db: Db; client: Client },
  signal?: AbortSignal,
): Promise<void> {
  const failures: Failures = { count: 0 };
  await repairEach(
    await listResumed(db, RESUMED_MAX),
    (run) =>
      withOpenWorkflow(client, { workflowId: workflowIdOf(run) }, (workflow) => workflow.signal(RESUME)),
    failures,
    signal,
  );
  throwFailures(failures);
}

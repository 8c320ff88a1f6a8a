import type { Client } from '@temporalio/client';
import type { Db } from '../db/connect.ts';
import { listResumed } from '../db/runs/parked-runs.ts';
import { RESUME, workflowIdOf } from '../flow/run.ts';
import { type Failures, repairEach, throwFailures } from './repair-each.ts';
import { withOpenWorkflow } from './with-open-workflow.ts';

const RESUMED_MAX = 500;

/** Has parked runs go on that an operator asked for, up to 500. Each tells by its row that it does. */
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

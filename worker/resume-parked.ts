import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Db } from '../db/connect.ts';
import { listResumed } from '../db/parked-runs.ts';
import { RESUME, workflowIdOf } from '../flow/run.ts';
import { askEngine } from './ended-workflows.ts';

const RESUMED_MAX = 500;

/** Has parked runs go on that an operator asked for, up to 500. Each tells by its row that it does. */
export async function resumeParked(
  { db, client }: { db: Db; client: Client },
  signal?: AbortSignal,
): Promise<void> {
  for (const run of await listResumed(db, RESUMED_MAX)) {
    if (signal?.aborted) return;
    const workflow = client.workflow.getHandle(workflowIdOf(run));
    await askEngine(client, () => workflow.signal(RESUME)).catch((error: unknown) => {
      // It has just ended.
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
  }
}

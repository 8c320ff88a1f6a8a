import type { Client } from '@temporalio/client';
import type { Db } from '../../db/connect.ts';
import { listUnparkRequested } from '../../db/runs/parked-runs.ts';
import { UNPARK_SIGNAL, workflowIdOf } from '../../flow/run.ts';
import type { Config } from '../../platform/config/config.ts';
import { repairEach, throwFailures } from './repair-each.ts';
import { withOpenWorkflow } from './with-open-workflow.ts';

const UNPARKED_MAX = 500;

type Deps = { db: Db; client: Client; deployment?: Config['deployment'] };

/**
 * Signals up to 500 parked runs to go on, as an operator has requested; each records in its row that it is unparked. With
 * Worker Versioning they go on with the current version: the version that they began with has lost its workers, and may be gone.
 */
export async function unparkRequestedRuns(
  { db, client, deployment }: Deps,
  signal?: AbortSignal,
): Promise<void> {
  const failures = await repairEach(
    await listUnparkRequested(db, UNPARKED_MAX),
    workflowIdOf,
    (run) =>
      withOpenWorkflow(client, { workflowId: workflowIdOf(run) }, async (workflow) => {
        if (deployment) await moveToCurrentVersion(client, workflow.workflowId);
        await workflow.signal(UNPARK_SIGNAL);
      }),
    signal,
  );
  throwFailures(failures);
}

async function moveToCurrentVersion(client: Client, workflowId: string): Promise<void> {
  await client.workflowService.updateWorkflowExecutionOptions({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    workflowExecutionOptions: { versioningOverride: { autoUpgrade: true } },
    updateMask: { paths: ['versioning_override'] },
  });
}

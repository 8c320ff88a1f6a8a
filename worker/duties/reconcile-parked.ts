// Finds workflows that wait to be unparked while the row of their run does not say so: an engine that lost its last seconds was
// set back to before it was unparked, or to before its run ended.
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Db } from '../../db/connect.ts';
import { listNotParked, parkRun } from '../../db/runs/parked-runs.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { RUN_FLOW, UNPARK_SIGNAL, workflowIdOf } from '../../flow/run.ts';
import { askEngine } from '../../temporal/ask-engine.ts';
import { type Failures, repairEach, throwFailures } from './repair-each.ts';
import { withOpenWorkflow } from './with-open-workflow.ts';

const PAGE = 500;
const LOOKED_AT_MAX = 10_000;
/** For all pages of the list together. */
const LIST_MAX_MS = 30_000;

type Deps = { db: Db; client: Client; taskQueue: string };

/**
 * Marks runs whose workflow is parked as parked again, so that operators find and unpark them, and has the workflow of a run
 * that has ended go on, which ends it.
 */
export async function reconcileParked({ db, client, taskQueue }: Deps, signal?: AbortSignal): Promise<void> {
  const failures: Failures[] = [];
  const callIds = await askEngine(client, () => listParked(client, taskQueue), LIST_MAX_MS);
  for (let page = 0; page < callIds.length && !signal?.aborted; page += PAGE) {
    const failed = await repairEach(
      await listNotParked(db, callIds.slice(page, page + PAGE)),
      workflowIdOf,
      (run) =>
        withOpenWorkflow(client, { workflowId: workflowIdOf(run) }, async (workflow) => {
          // The list is behind: the run may have been unparked a moment ago.
          if (!(await isAtRest(workflow))) return;
          if (run.status === 'started') await parkRun(db, run.callId);
          else await workflow.signal(UNPARK_SIGNAL);
        }),
      signal,
    );
    failures.push(failed);
  }
  throwFailures(...failures);
}

/** Lists the calls whose workflows are parked; one that somebody started by hand may have any id. */
async function listParked(client: Client, taskQueue: string): Promise<string[]> {
  const query =
    `ExecutionStatus = 'Running' and WorkflowType = '${RUN_FLOW}' and TaskQueue = '${taskQueue}'` +
    ` and WeirOutcome = 'parked'`;
  const callIds: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query, pageSize: PAGE })) {
    const callId = workflowId.split('/').at(-1) ?? '';
    if (UUID_PATTERN.test(callId) && callIds.push(callId) === LOOKED_AT_MAX) break;
  }
  return callIds;
}

/** Whether a workflow is parked and no worker has it: what a worker does is known to the engine when the task ends. */
async function isAtRest(workflow: WorkflowHandle): Promise<boolean> {
  const { typedSearchAttributes, raw } = await workflow.describe();
  const isParked = typedSearchAttributes.get({ name: 'WeirOutcome', type: 'KEYWORD' }) === 'parked';
  return isParked && !raw.pendingWorkflowTask;
}

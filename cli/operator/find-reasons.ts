import type { Client } from '@temporalio/client';
import { askEngine } from '../../temporal/ask-engine.ts';
import { isSeen, listUnserved, type Polled } from '../../temporal/list-pollers.ts';
import { findEndedWorkflows } from '../../worker/duties/find-ended-workflows.ts';
import type { Stuck } from './failing-tasks.ts';

/** Finds out which of these workflows cannot go on, and why, by the workers that poll. */
export async function findReasons(
  client: Client,
  workflowIds: string[],
  { polled, signal }: { polled: Polled; signal: AbortSignal },
): Promise<Map<string, Stuck['reason']>> {
  const all = (ids: Iterable<string>, reason: Stuck['reason']) => [...ids].map((id) => [id, reason] as const);
  const seen = polled.pollers.filter(isSeen);
  if (seen.length === 0) return new Map(all(workflowIds, 'no worker'));
  const missing = (await findEndedWorkflows(client, workflowIds, signal)).keys();
  const versions = await listVersions(client, workflowIds);
  const unserved = listUnserved(polled).map(({ state }) => state);
  const reasons = new Map(all(missing, 'no workflow'));
  for (const [id, { version, isBegun }] of versions) {
    // What workers without a version have begun goes on with the current one.
    const lacking = unserved.find((state) => state === 'current' || !isBegun);
    if (version === undefined && lacking) reasons.set(id, `no ${lacking} worker`);
    else if (version !== undefined && !seen.some((worker) => worker.version === version))
      reasons.set(id, 'no worker of its version');
  }
  return reasons;
}

/** The version of a workflow, if any, and whether a worker has begun it: only then the engine lists its build ids. */
type Begun = { version: string | undefined; isBegun: boolean };

/** Lists the versions of running workflows. */
async function listVersions(client: Client, workflowIds: string[]): Promise<Map<string, Begun>> {
  if (workflowIds.length === 0) return new Map();
  return askEngine(client, async () => {
    const ids = workflowIds.map((id) => `'${id}'`).join(', ');
    const query = `ExecutionStatus = 'Running' and WorkflowId in (${ids})`;
    const found = new Map<string, Begun>();
    for await (const { workflowId, searchAttributes } of client.workflow.list({
      query,
      pageSize: workflowIds.length,
    }))
      found.set(workflowId, {
        version: searchAttributes.TemporalWorkerDeploymentVersion?.map(String)[0],
        isBegun: searchAttributes.BuildIds !== undefined,
      });
    return found;
  });
}

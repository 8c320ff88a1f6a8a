import type { Client } from '@temporalio/client';
import { askEngine } from '../../engine/ask-engine.ts';
import type { Poller } from '../../engine/list-pollers.ts';
import { findEndedWorkflows } from '../../worker/find-ended-workflows.ts';
import type { Stuck } from './failing-tasks.ts';

/** Finds out which of these workflows cannot go on, and why, by the workers that were `seen`. */
export async function findReasons(
  client: Client,
  workflowIds: string[],
  { seen, signal }: { seen: Poller[]; signal: AbortSignal },
): Promise<Map<string, Stuck['reason']>> {
  const all = (ids: Iterable<string>, reason: Stuck['reason']) => [...ids].map((id) => [id, reason] as const);
  if (seen.length === 0) return new Map(all(workflowIds, 'no worker'));
  const missing = (await findEndedWorkflows(client, workflowIds, signal)).keys();
  const versions = await listVersions(client, workflowIds);
  const isCurrentSeen = seen.some(({ getsNew }) => getsNew);
  const reasons = new Map(all(missing, 'no workflow'));
  for (const [id, version] of versions) {
    if (version === undefined && !isCurrentSeen) reasons.set(id, 'no current worker');
    else if (version !== undefined && !seen.some((worker) => worker.version === version))
      reasons.set(id, 'no worker of its version');
  }
  return reasons;
}

/** Lists the versions of running workflows; undefined of one that no worker has begun, or one without a version. */
async function listVersions(client: Client, workflowIds: string[]): Promise<Map<string, string | undefined>> {
  if (workflowIds.length === 0) return new Map();
  return askEngine(client, async () => {
    const ids = workflowIds.map((id) => `'${id}'`).join(', ');
    const query = `ExecutionStatus = 'Running' and WorkflowId in (${ids})`;
    const found = new Map<string, string | undefined>();
    for await (const { workflowId, searchAttributes } of client.workflow.list({
      query,
      pageSize: workflowIds.length,
    }))
      found.set(workflowId, searchAttributes.TemporalWorkerDeploymentVersion?.map(String)[0]);
    return found;
  });
}

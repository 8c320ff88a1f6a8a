// Asks the engine which workflows have ended, for the reconcilers.
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { askEngine } from '../../temporal/ask-engine.ts';

/** Workflows that are described one by one at the same time. */
const DESCRIBED_AT_ONCE = 8;
const OPEN = ['RUNNING', 'PAUSED', 'CONTINUED_AS_NEW'];

/**
 * Finds those of `workflowIds` whose workflow is not open, with its state: `missing`, or its status in lower case
 * (`terminated`, `timed_out`, …). The engine counts first. Only when fewer are open than expected is it asked which, and
 * then about each of the others, since its list lags behind. The list may also have workflows that the engine has lost, so a few of
 * those that it has are asked about each time, chosen at random.
 */
export async function findEndedWorkflows(
  client: Client,
  workflowIds: string[],
  signal?: AbortSignal,
): Promise<Map<string, string>> {
  const ended = new Map<string, string>();
  if (workflowIds.length === 0) return ended;
  const query = `CloseTime is null and WorkflowId in (${workflowIds.map((id) => `'${id}'`).join(', ')})`;
  const { count } = await askEngine(client, () => client.workflow.count(query));
  const open =
    count >= workflowIds.length
      ? new Set(workflowIds)
      : await askEngine(client, () => listIds(client, query, workflowIds.length));
  const left = [...workflowIds.filter((id) => !open.has(id)), ...pickAtRandom([...open])];
  while (left.length > 0 && !signal?.aborted) {
    const asked = await Promise.allSettled(
      left.splice(0, DESCRIBED_AT_ONCE).map(async (id) => {
        const state = await findWorkflowState(client, id);
        if (state !== 'open') ended.set(id, state);
      }),
    );
    // None is left behind: the caller may close the connection, on which it would be repeated.
    for (const each of asked) if (each.status === 'rejected') throw each.reason;
  }
  return ended;
}

/** Picks neighbours, as many as are described at once. */
function pickAtRandom(ids: string[]): string[] {
  const first = Math.floor(Math.random() * ids.length);
  return [...ids.slice(first), ...ids.slice(0, first)].slice(0, DESCRIBED_AT_ONCE);
}

async function listIds(client: Client, query: string, pageSize: number): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query, pageSize })) ids.add(workflowId);
  return ids;
}

/** Finds the state of a workflow, as above, or `open`. */
async function findWorkflowState(client: Client, workflowId: string): Promise<string> {
  try {
    const { status } = await askEngine(client, () => client.workflow.getHandle(workflowId).describe());
    return OPEN.includes(status.name) ? 'open' : status.name.toLowerCase();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}

// Finds runs whose workers are lost again and again during blocks that run inside the workflow task, and has them parked.
import type { Client } from '@temporalio/client';
import { LOST_WORKERS_MAX } from '../../flow/limits.ts';
import { PARK_SIGNAL, RUN_FLOW } from '../../flow/run.ts';
import { log } from '../../platform/observability/log.ts';
import { askEngine } from '../../temporal/ask-engine.ts';
import { listProblems, type Problems } from '../../temporal/list-problems.ts';
import { repairEach, throwFailures } from './repair-each.ts';
import { withOpenWorkflow } from './with-open-workflow.ts';

const LOOKED_AT_MAX = 500;

type Lost = { workflowId: string; runId: string };

/**
 * Signals runs whose workflow task was lost with its worker `lostMax` times in a row: each parks before its next block and
 * waits for an operator, with the engine's delays some twenty minutes after the first loss. A run whose workflow task *fails*,
 * as after a deploy that does not fit its history, is left alone. Does nothing where the engine cannot list such problems.
 */
export async function parkRunsLosingWorkers(
  { client, taskQueue }: { client: Client; taskQueue: string },
  signal?: AbortSignal,
  lostMax = LOST_WORKERS_MAX,
): Promise<void> {
  const lost = await askEngine(client, () => listLost(client, taskQueue));
  const failures = await repairEach(
    lost,
    (run) => run.workflowId,
    (run) => signalPark(client, run, lostMax),
    signal,
  );
  throwFailures(failures);
}

async function listLost(client: Client, taskQueue: string): Promise<Lost[]> {
  const timedOut: Problems = {
    problem: 'WorkflowTaskTimedOut',
    taskQueues: [taskQueue],
    workflowType: RUN_FLOW,
  };
  const lost: Lost[] = [];
  for await (const { workflowId, runId } of listProblems(client, timedOut, LOOKED_AT_MAX))
    if (lost.push({ workflowId, runId }) === LOOKED_AT_MAX) break;
  return lost;
}

function signalPark(client: Client, run: Lost, lostMax: number): Promise<void> {
  return withOpenWorkflow(client, run, async (workflow) => {
    const { raw } = await workflow.describe();
    const attempt = raw.pendingWorkflowTask?.attempt ?? 0;
    if (attempt <= lostMax) return;
    await workflow.signal(PARK_SIGNAL);
    log.warn(
      { workflow_id: run.workflowId, attempts: attempt - 1 },
      'A run will be parked: its workflow task was lost with its worker in each attempt.',
    );
  });
}

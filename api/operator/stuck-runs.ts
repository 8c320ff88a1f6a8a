// GET /operator/stuck-runs: runs of every organization that make no progress, with the reason and the time.
import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { type CertainlyStuckRun, findPathsOfRuns, listStuckRuns } from '../../db/runs/stuck-calls.ts';
import { listUnfinished } from '../../db/upkeep/list-unfinished.ts';
import { RUN_FLOW, workflowIdOf } from '../../flow/run.ts';
import { askEngine } from '../../temporal/ask-engine.ts';
import type { EngineDeps } from '../../temporal/deps.ts';
import { describeEngineError } from '../../temporal/engine-errors.ts';
import {
  isSeen,
  listPollers,
  listUnserved,
  type Polled,
  WORKFLOW_TASKS,
} from '../../temporal/list-pollers.ts';
import { listProblems, type Problems } from '../../temporal/list-problems.ts';
import { findEndedWorkflows } from '../../worker/reconciler/find-ended-workflows.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { pageLimit } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import { answer, VALIDATION_ERRORS } from '../reference/operations.ts';
import { stuckRuns } from '../reference/operator-examples.ts';
import { identifyOperator, OPERATOR_ERRORS, OPERATOR_PATH, operatorOperation } from './identify-operator.ts';

const stuckRun = z
  .object({
    executionId: z.uuid(),
    flow: z.string().meta({ description: 'The slugs of organization, project and flow.' }),
    reason: z.enum([
      'retrying',
      'cancelling',
      'task fails',
      'crash-looping',
      'waits for a model',
      'no workflow',
      'no worker',
      'no current worker',
      'no ramping worker',
      'no worker of its version',
    ]),
    since: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'The start of the problem if known, otherwise the start of the run.' }),
    lastError: z.string().nullable(),
  })
  .meta({ id: 'StuckRun' });
export const stuckRunList = z
  .object({
    runs: z.array(stuckRun).meta({ description: 'Longest stuck first.' }),
    missing: z.string().nullable().meta({
      description: 'Why runs may be missing that only Temporal reports as stuck; null if none are.',
    }),
  })
  .meta({ id: 'StuckRunList' });
const stuckQuery = z.strictObject({ limit: pageLimit });

type Stuck = Pick<z.output<typeof stuckRun>, 'executionId' | 'reason' | 'lastError'> & { since: Date | null };

const PAGE_MAX = 500;

const REASONS = [
  ['WorkflowTaskFailed', 'task fails'],
  ['WorkflowTaskTimedOut', 'crash-looping'],
] as const;

/** The worker version of a workflow, if any. `isBegun`: Temporal lists build ids only once a worker has begun the workflow. */
type Begun = { version: string | undefined; isBegun: boolean };

const QUIET_SECONDS = 120;
const PAGE = 500;
/** Limits all requests to Temporal together. */
const ENGINE_MAX_MS = 20_000;

export function stuckRunRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${OPERATOR_PATH}/stuck-runs`,
      operation: {
        ...operatorOperation,
        operationId: 'listStuckRuns',
        summary: 'List the runs of all organizations that make no progress, with the reason',
        requestParams: { query: stuckQuery },
        responses: {
          200: answer('The runs.', stuckRunList, { runs: stuckRuns }),
          ...OPERATOR_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...identifyOperator(deps), readQuery(stuckQuery), list(deps)],
    },
  ];
}

function list(deps: ApiDeps): ApiMiddleware {
  return async function list(ctx) {
    ctx.body = await listStuck(deps, (ctx.state.query as z.infer<typeof stuckQuery>).limit);
  };
}

/** Lists up to `limit` stuck runs, longest stuck first. Without Temporal, lists only what the database shows. */
async function listStuck(deps: EngineDeps, limit: number): Promise<z.input<typeof stuckRunList>> {
  const { db } = deps;
  const found = new Map<string, Stuck>();
  const add = (stuck: Stuck[]) => {
    for (const one of stuck) if (!found.has(one.executionId)) found.set(one.executionId, one);
  };
  add((await listStuckRuns(db, limit)).map(describeStuck));
  const missing = await askTemporal(deps, limit, add).catch(
    (error: unknown) => `Temporal did not answer: ${describeEngineError(error)}.`,
  );
  const stuck = [...found.values()]
    .sort((a, b) => (a.since?.getTime() ?? 0) - (b.since?.getTime() ?? 0))
    .slice(0, limit);
  const paths = await findPathsOfRuns(
    db,
    stuck.map(({ executionId }) => executionId),
  );
  const runs = stuck.flatMap((one) => {
    const flow = paths.get(one.executionId);
    return flow === undefined ? [] : [{ ...one, since: one.since?.toISOString() ?? null, flow }];
  });
  return { runs, missing };
}

/** Converts a row to a stuck run. `lastError` names the block that failed repeatedly, with its attempts or losses. */
function describeStuck({ executionId, reason, since, block, attempts, lastError }: CertainlyStuckRun): Stuck {
  switch (reason) {
    case 'retrying':
      return { executionId, reason, since, lastError: `${block}, attempt ${attempts}: ${lastError}` };
    case 'crash_looping':
      return {
        executionId,
        reason: 'crash-looping',
        since,
        lastError: `${block}: its worker was lost ${Number(attempts) - 1} times`,
      };
    case 'waiting_for_model':
      return {
        executionId,
        reason: 'waits for a model',
        since,
        lastError: `${block}: its model has not answered`,
      };
    default:
      return { executionId, reason, since, lastError: null };
  }
}

/** Adds what Temporal reports. Returns why runs may be missing, or null. */
async function askTemporal(
  { db, client, taskQueue }: EngineDeps,
  limit: number,
  add: (stuck: Stuck[]) => void,
): Promise<string | null> {
  const signal = AbortSignal.timeout(ENGINE_MAX_MS);
  const queue = { namespace: client.options.namespace, name: taskQueue, type: WORKFLOW_TASKS } as const;
  // Asked first: it shows within seconds that Temporal is silent.
  const polled = await askEngine(client, () => listPollers(client.workflowService, queue));
  add(await askEngine(client, () => listFailingTasks(client, { taskQueue, limit, signal }), ENGINE_MAX_MS));
  let count = 0;
  for (
    let after: Awaited<ReturnType<typeof listUnfinished>>[number] | undefined;
    !signal.aborted && count < limit;
  ) {
    const rows = await listUnfinished(db, 'run', { quietSeconds: QUIET_SECONDS, after, limit: PAGE });
    const ids = new Map(
      rows.map((row) => [workflowIdOf({ callId: row.id, executionId: row.continues ?? row.id }), row]),
    );
    const reasons = await findReasons(client, [...ids.keys()], { polled, signal });
    const stuck = [...reasons].flatMap(([workflowId, reason]): Stuck[] => {
      const row = ids.get(workflowId);
      if (!row) return [];
      const since = new Date(row.startedAt);
      return [{ executionId: row.continues ?? row.id, reason, since, lastError: null }];
    });
    add(stuck);
    count += stuck.length;
    after = rows.at(-1);
    if (rows.length < PAGE) return null;
  }
  return signal.aborted ? `Not all runs were checked within ${ENGINE_MAX_MS / 1_000} s.` : null;
}

/** Finds the workflows that cannot continue: missing ones, and those without a suitable worker among `polled`. */
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
    // Runs of unversioned workers continue on the current version.
    const lacking = unserved.find((state) => state === 'current' || !isBegun);
    if (version === undefined && lacking) reasons.set(id, `no ${lacking} worker`);
    else if (version !== undefined && !seen.some((worker) => worker.version === version))
      reasons.set(id, 'no worker of its version');
  }
  return reasons;
}

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

/** Lists runs whose workflow task fails or loses its worker repeatedly; none if Temporal does not report such problems. */
async function listFailingTasks(
  client: Client,
  { taskQueue, limit, signal }: { taskQueue: string; limit: number; signal: AbortSignal },
): Promise<Stuck[]> {
  const found: Stuck[] = [];
  for (const [problem, reason] of REASONS) {
    const stuck: Problems = { problem, taskQueues: [taskQueue], workflowType: RUN_FLOW };
    for await (const workflow of listProblems(client, stuck, Math.min(limit, PAGE_MAX))) {
      const { workflowId, startTime, searchAttributes } = workflow;
      const executionId = workflowId.split('/')[0] ?? workflowId;
      const problems = searchAttributes.TemporalReportedProblems?.map(String) ?? [];
      const cause = problems.find((each) => each.startsWith('cause='))?.slice('cause='.length) ?? null;
      const lastError = (await describeAttempts(client, workflowId)) ?? cause;
      found.push({ executionId, reason, since: startTime, lastError });
      if (found.length >= limit || signal.aborted) return found;
    }
  }
  return found;
}

/** Describes the attempt of the pending workflow task. Returns null without one, or if Temporal does not answer. */
async function describeAttempts(client: Client, workflowId: string): Promise<string | null> {
  const { raw } = await askEngine(client, () => client.workflow.getHandle(workflowId).describe()).catch(
    () => ({ raw: undefined }),
  );
  const attempt = raw?.pendingWorkflowTask?.attempt;
  return attempt ? `attempt ${attempt} of its workflow task` : null;
}

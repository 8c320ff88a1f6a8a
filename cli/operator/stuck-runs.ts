// `weir operator runs list --stuck`: runs that make no progress, with reason, time and advice.
import { Client, Connection } from '@temporalio/client';
import type { Db } from '../../db/connect.ts';
import { type CertainlyStuckRun, findPathsOfRuns, listStuckRuns } from '../../db/runs/stuck-calls.ts';
import { listUnfinished } from '../../db/upkeep/list-unfinished.ts';
import { RUN_FLOW, workflowIdOf } from '../../flow/run.ts';
import { readEnvironment, readTemporal } from '../../platform/config/config.ts';
import { TASK_QUEUE_DEFAULT } from '../../platform/config/variables.ts';
import { askEngine } from '../../temporal/ask-engine.ts';
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
import { type CommandResult, formatTable, formatTime, note, oneLine } from '../terminal/print.ts';
import { serviceEnvironment } from './environment.ts';

/** A run that makes no progress. `since`: the start of the problem if known, otherwise the start of the run. */
type Stuck = {
  executionId: string;
  reason:
    | 'retrying'
    | 'cancelling'
    | 'task fails'
    | 'loses workers'
    | 'no workflow'
    | 'no worker'
    | 'no current worker'
    | 'no ramping worker'
    | 'no worker of its version';
  since: Date | null;
  lastError: string | null;
};

const PAGE_MAX = 500;

const REASONS = [
  ['WorkflowTaskFailed', 'task fails'],
  ['WorkflowTaskTimedOut', 'loses workers'],
] as const;

/** The worker version of a workflow, if any. `isBegun`: Temporal lists build ids only once a worker has begun the workflow. */
type Begun = { version: string | undefined; isBegun: boolean };

const QUIET_SECONDS = 120;
const PAGE = 500;
/** Limits all requests to Temporal together. */
const ENGINE_MAX_MS = 20_000;

const MEND: { [reason in Stuck['reason']]: string } = {
  retrying: 'a block fails repeatedly: see its error; wait for its next attempt, or runs cancel <id>',
  cancelling:
    'was cancelled, and no worker of its task queue has ended it: any worker of this service terminates it after 5 minutes',
  'task fails':
    'its workflow task fails: see the reason in the logs of workers; deploy workers whose code and keys fit its history; it then continues automatically',
  'loses workers':
    'its workers die: check their logs and memory; it is retried, with up to 10 minutes between attempts, or runs cancel <id>',
  'no workflow':
    'its workflow is missing: a worker starts it within a minute; otherwise check the reconciler in the log',
  'no current worker':
    'no worker of the current version polls: set the version of the running workers as current, or start workers of the current version (docs/operating/worker-versions.md)',
  'no ramping worker':
    'no worker of the ramping version polls, which gets a share of the new runs: start workers of this version, or end its ramp (docs/operating/worker-versions.md)',
  'no worker of its version':
    'no worker of the version that began it polls: start such workers, or move its runs to the current version (docs/operating/worker-versions.md)',
  'no worker': 'no worker polls the task queue: start workers with this WEIR_TASK_QUEUE',
};

const LAST_ERROR_MAX = 80;

/** Lists up to `limit` stuck runs, longest stuck first. Without Temporal, lists only what the database shows. */
export async function listStuck(db: Db, limit: number): Promise<CommandResult> {
  const found = new Map<string, Stuck>();
  const add = (stuck: Stuck[]) => {
    for (const one of stuck) if (!found.has(one.executionId)) found.set(one.executionId, one);
  };
  add((await listStuckRuns(db, limit)).map(describeStuck));
  let none = 'No run is stuck.';
  await askTemporal(db, limit, add).catch((error: unknown) => {
    none = 'The database shows no stuck run.';
    note(
      `Temporal did not answer: ${describeEngineError(error)}. Runs that only Temporal reports as stuck are missing.`,
    );
  });
  const stuck = [...found.values()]
    .sort((a, b) => (a.since?.getTime() ?? 0) - (b.since?.getTime() ?? 0))
    .slice(0, limit);
  const paths = await findPathsOfRuns(
    db,
    stuck.map(({ executionId }) => executionId),
  );
  const runs = stuck.flatMap((one) => {
    const path = paths.get(one.executionId);
    return path === undefined ? [] : [{ ...one, flow: path, mend: MEND[one.reason] }];
  });
  const reasons = [...new Set(runs.map(({ reason }) => reason))];
  return {
    json: runs,
    text: [
      formatTable(
        ['execution', 'flow', 'reason', 'since', 'last error'],
        runs.map((run) => [
          run.executionId,
          run.flow,
          run.reason,
          formatTime(run.since),
          run.lastError && shortenError(oneLine(run.lastError)),
        ]),
        none,
      ),
      ...(reasons.length > 0 ? ['', ...reasons.map((reason) => `${reason}: ${MEND[reason]}`)] : []),
    ].join('\n'),
  };
}

/** Converts a row to a stuck run. `lastError` names the block that failed repeatedly, with its attempts or losses. */
function describeStuck({ executionId, reason, since, block, attempts, lastError }: CertainlyStuckRun): Stuck {
  switch (reason) {
    case 'retrying':
      return { executionId, reason, since, lastError: `${block}, attempt ${attempts}: ${lastError}` };
    case 'losing_workers':
      return {
        executionId,
        reason: 'loses workers',
        since,
        lastError: `${block}: its worker was lost ${Number(attempts) - 1} times`,
      };
    default:
      return { executionId, reason, since, lastError: null };
  }
}

async function askTemporal(db: Db, limit: number, add: (stuck: Stuck[]) => void): Promise<void> {
  const env = readEnvironment(serviceEnvironment());
  const { connectionOptions, namespace } = readTemporal(env);
  const taskQueue = env.WEIR_TASK_QUEUE || TASK_QUEUE_DEFAULT;
  const connection = await Connection.connect({ ...connectionOptions, connectTimeout: 5_000 });
  const client = new Client({ connection, namespace });
  const signal = AbortSignal.timeout(ENGINE_MAX_MS);
  try {
    add(await listFailingTasks(client, { taskQueue, limit, signal }));
    const queue = { namespace, name: taskQueue, type: WORKFLOW_TASKS } as const;
    const polled = await askEngine(client, () => listPollers(connection.workflowService, queue));
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
      if (rows.length < PAGE) return;
    }
    if (signal.aborted) note(`Not all runs were checked within ${ENGINE_MAX_MS / 1_000} s.`);
  } finally {
    connection.close().catch(() => undefined);
  }
}

function shortenError(text: string): string {
  return text.length > LAST_ERROR_MAX ? `${text.slice(0, LAST_ERROR_MAX - 1)}…` : text;
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

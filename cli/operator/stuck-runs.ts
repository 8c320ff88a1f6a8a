// `weir operator runs list --stuck`: runs that make no progress, with the reason, since when, and what to do about it.
import { Client, Connection } from '@temporalio/client';
import { readEnvironment, readTemporal } from '../../config.ts';
import type { Db } from '../../db/connect.ts';
import { listStuckInDatabase, listWithPaths } from '../../db/runs/list-stuck.ts';
import { listUnfinished } from '../../db/upkeep/list-unfinished.ts';
import { askEngine } from '../../engine/ask-engine.ts';
import { DEFAULT_NAMESPACE } from '../../engine/connect.ts';
import { describeEngineError } from '../../engine/describe-engine-error.ts';
import { workflowIdOf } from '../../flow/run.ts';
import { findEndedWorkflows } from '../../worker/find-ended-workflows.ts';
import { formatTable, formatTime, oneLine } from '../terminal/format-table.ts';
import { note } from '../terminal/print-line.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { serviceEnvironment } from './environment.ts';
import { listFailingTasks, type Stuck } from './failing-tasks.ts';

const QUIET_SECONDS = 120;
const PAGE = 500;
/** The engine is asked no longer than this, whatever is under way. */
const ENGINE_MAX_MS = 20_000;
const POLLED_WITHIN_SECONDS = 120;
const WORKFLOW_TASKS = 1;

const MEND: { [reason in Stuck['reason']]: string } = {
  parked: 'lost its workers again and again: weir operator runs resume <id>, or runs cancel <id>',
  retrying: 'a block is refused again and again: see its error; it goes on by itself, or runs cancel <id>',
  cancelling: 'is cancelled, and no worker has ended it: look whether workers run',
  'task fails':
    'its workflow task fails, and the log of a worker says why: deploy workers whose code and keys fit its history; it goes on by itself',
  'loses workers':
    'workers are lost under it: look at their logs and memory; it is parked after twelve losses',
  'no workflow':
    'its workflow is missing: a worker starts it within a minute; look at the reconciler in the log',
  'no worker': 'no worker polls the task queue: start workers with this WEIR_TASK_QUEUE',
};

const LAST_ERROR_MAX = 80;

/** Lists up to `limit` stuck runs, those that wait longest first. What only Temporal knows is left out while it is away. */
export async function listStuck(db: Db, limit: number): Promise<CommandResult> {
  const found = new Map<string, Stuck>();
  const add = (stuck: Stuck[]) => {
    for (const one of stuck) if (!found.has(one.executionId)) found.set(one.executionId, one);
  };
  add(await listStuckInDatabase(db, limit));
  await askTemporal(db, limit, add).catch((error: unknown) =>
    note(
      `Temporal could not be asked: ${describeEngineError(error)}. Runs that only it knows to be stuck are left out.`,
    ),
  );
  const stuck = [...found.values()]
    .sort((a, b) => (a.since?.getTime() ?? 0) - (b.since?.getTime() ?? 0))
    .slice(0, limit);
  const paths = await listWithPaths(
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
          run.lastError && shorten(oneLine(run.lastError)),
        ]),
        'No run is stuck.',
      ),
      ...(reasons.length > 0 ? ['', ...reasons.map((reason) => `${reason}: ${MEND[reason]}`)] : []),
    ].join('\n'),
  };
}

async function askTemporal(db: Db, limit: number, add: (stuck: Stuck[]) => void): Promise<void> {
  const env = readEnvironment(serviceEnvironment());
  const { connectionOptions, namespace = DEFAULT_NAMESPACE } = readTemporal(env);
  const taskQueue = env.WEIR_TASK_QUEUE || 'weir-flows';
  const connection = await Connection.connect({ ...connectionOptions, connectTimeout: 5_000 });
  const client = new Client({ connection, namespace });
  const signal = AbortSignal.timeout(ENGINE_MAX_MS);
  try {
    add(await listFailingTasks(client, { taskQueue, limit, signal }));
    const { pollers } = await askEngine(client, () =>
      connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: taskQueue },
        taskQueueType: WORKFLOW_TASKS,
      }),
    );
    const since = Date.now() / 1_000 - POLLED_WITHIN_SECONDS;
    const polled = pollers.some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) > since);
    let count = 0;
    for (
      let after: Awaited<ReturnType<typeof listUnfinished>>[number] | undefined;
      !signal.aborted && count < limit;
    ) {
      const rows = await listUnfinished(db, 'run', { quietSeconds: QUIET_SECONDS, after, limit: PAGE });
      const ids = new Map(
        rows.map((row) => [workflowIdOf({ callId: row.id, executionId: row.continues ?? row.id }), row]),
      );
      const missing = polled ? await findEndedWorkflows(client, [...ids.keys()], signal) : ids;
      const stuck = [...missing.keys()].flatMap((workflowId): Stuck[] => {
        const row = ids.get(workflowId);
        const reason = polled ? 'no workflow' : 'no worker';
        return row
          ? [
              {
                executionId: row.continues ?? row.id,
                reason,
                since: new Date(row.startedAt),
                lastError: null,
              },
            ]
          : [];
      });
      add(stuck);
      count += stuck.length;
      after = rows.at(-1);
      if (rows.length < PAGE) return;
    }
    if (signal.aborted) note(`Not all runs were looked at within ${ENGINE_MAX_MS / 1_000} s.`);
  } finally {
    connection.close().catch(() => undefined);
  }
}

function shorten(text: string): string {
  return text.length > LAST_ERROR_MAX ? `${text.slice(0, LAST_ERROR_MAX - 1)}…` : text;
}

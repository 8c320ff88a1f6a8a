// main of `node worker/check-health.ts`: exits with 0 when a worker of this host has asked Temporal for work within the last
// two minutes. It needs the variables of Temporal and WEIR_TASK_QUEUE only.
import { hostname } from 'node:os';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DEFAULT_NAMESPACE } from '../engine/connect.ts';

const RECENT_SECONDS = 120;
const WORKFLOW_TASKS = 1;

try {
  const { connectionOptions, namespace = DEFAULT_NAMESPACE } = loadClientConnectConfig();
  const connection = await Connection.connect(connectionOptions);
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: process.env.WEIR_TASK_QUEUE || 'weir-flows' },
    taskQueueType: WORKFLOW_TASKS,
  });
  const since = Date.now() / 1_000 - RECENT_SECONDS;
  const isOurs = pollers.some(
    ({ identity, lastAccessTime }) =>
      identity?.endsWith(`@${hostname()}`) && Number(lastAccessTime?.seconds ?? 0) > since,
  );
  if (!isOurs) throw new Error(`No worker of this host has asked for work within ${RECENT_SECONDS} s.`);
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

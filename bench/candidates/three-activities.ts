// main: (a) a hand-written workflow with three regular activities behind Koa
import { randomUUID } from 'node:crypto';
import { serve } from './serve.ts';
import { startWorker } from './start-worker.ts';
import type { threeActivities } from './workflows.ts';

const { client, taskQueue, stop } = await startWorker();
await serve(
  (message) =>
    client.workflow.execute<typeof threeActivities>('threeActivities', {
      workflowId: randomUUID(),
      taskQueue,
      args: [message],
    }),
  stop,
);

// main: (c) an empty workflow with eager start behind Koa, the engine's floor
import { randomUUID } from 'node:crypto';
import { serve } from './serve.ts';
import { startWorker } from './start-worker.ts';
import type { empty } from './workflows.ts';

const { client, taskQueue, stop } = await startWorker();
await serve(
  () =>
    client.workflow.execute<typeof empty>('empty', {
      workflowId: randomUUID(),
      taskQueue,
      requestEagerStart: true,
    }),
  stop,
);

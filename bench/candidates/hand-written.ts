// main: a candidate written by hand behind Koa: a workflow, or the three functions without an engine
import { randomUUID } from 'node:crypto';
import { forward, passOn, shout } from './functions.ts';
import { serve } from './serve.ts';
import { startWorker } from './start-worker.ts';
import type * as workflows from './workflows.ts';

/** The workflow to start for each request, and whether its first task comes back with the answer to the start. */
export type HandWrittenJob = { workflow: keyof typeof workflows; eager: boolean } | Record<string, never>;

const { workflow, eager } = JSON.parse(process.env.HAND_WRITTEN_JOB ?? '{}') as HandWrittenJob;
if (workflow === undefined) {
  await serve(async (message) => passOn(await shout(await forward(message))));
} else {
  const { client, taskQueue, stop } = await startWorker();
  await serve(
    (message) =>
      client.workflow.execute(workflow, {
        workflowId: randomUUID(),
        taskQueue,
        args: [message],
        requestEagerStart: eager,
      }),
    stop,
  );
}

// main: a candidate written by hand behind Koa: a workflow, or the three functions without an engine
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import Koa from 'koa';
import { installRuntime } from '../../temporal/install-runtime.ts';
import * as functions from './functions.ts';
import type * as workflows from './workflows.ts';

/** The workflow to start for each request, and whether the answer to the start includes its first task. */
export type HandWrittenJob =
  | { workflow: keyof typeof workflows; eager: boolean; modelMs?: number }
  | Record<string, never>;

const { workflow, eager, modelMs = 300 } = JSON.parse(process.env.HAND_WRITTEN_JOB ?? '{}') as HandWrittenJob;
if (workflow === undefined) {
  await serve(async (message) => functions.passOn(await functions.shout(await functions.forward(message))));
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

/** Answers `{message}` with `{result}` through Koa, sends its URL to the parent process and ends with it. */
async function serve(
  run: (message: string) => Promise<string>,
  stop: () => Promise<void> = async () => undefined,
): Promise<void> {
  const app = new Koa();
  app.use(async (ctx) => {
    const { message } = (await json(ctx.req)) as { message: string };
    ctx.body = { result: await run(message) };
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.once('disconnect', async () => {
    server.close();
    await stop();
  });
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
}

/** Starts a worker on its own task queue, with room for every caller, and a client on the same connection. */
async function startWorker() {
  installRuntime();
  const { createModelCaller, ...activities } = functions;
  const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
  const taskQueue = `bench-${randomUUID()}`;
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowsPath: path.join(import.meta.dirname, 'workflows.ts'),
    activities: { ...activities, callModel: createModelCaller(modelMs) },
    maxConcurrentActivityTaskExecutions: 1_000,
  });
  const running = worker.run();
  return {
    client: new Client({ connection }),
    taskQueue,
    async stop() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

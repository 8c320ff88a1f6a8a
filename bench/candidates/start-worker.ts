import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { installRuntime } from '../../temporal/install-runtime.ts';
import * as activities from './functions.ts';

/** Starts a worker with the SDK's defaults on its own task queue, and a client on the same connection. */
export async function startWorker() {
  installRuntime();
  const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
  const taskQueue = `bench-${randomUUID()}`;
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowsPath: path.join(import.meta.dirname, 'workflows.ts'),
    activities,
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

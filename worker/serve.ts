// main of `npm run serve`: API and worker in one process on one Temporal connection, the shortest path for /execute.
import { serveApi } from '../api/serve.ts';
import { createInProcessRuns } from '../db/runs/in-process-runs.ts';
import { createWebhookListeners } from '../net/webhook-listeners.ts';
import { endOnFatal } from '../process/end-on-fatal.ts';
import { endOnSignal, SERVE_END_MAX_SECONDS } from '../process/end-on-signal.ts';
import { exitOnFailure } from '../process/exit-on-failure.ts';
import { openDependencies } from '../process/open-dependencies.ts';
import { workflowBundle } from './bundle.ts';
import { installRuntime } from './install-runtime.ts';
import { runWorker } from './run-worker.ts';

installRuntime();
const dependencies = await exitOnFailure(() => openDependencies());
const { config } = dependencies;
const inProcessRuns = createInProcessRuns();
const listeners = config.webhookListeners ? createWebhookListeners() : undefined;
const bundle = await workflowBundle(config);
const worker = await exitOnFailure(() =>
  runWorker({ ...dependencies, workflowBundle: bundle, inProcessRuns, listeners }),
);
const api = await exitOnFailure(() => serveApi({ ...dependencies, inProcessRuns, listeners }));
console.log(`API and worker: http://${config.host}:${api.port}/api/v1, task queue ${config.taskQueue}.`);
endOnSignal(stop, SERVE_END_MAX_SECONDS);
endOnFatal(stop);
await worker.ended;

/** Drains the API first: the runs it waits for need the worker. */
async function stop(): Promise<void> {
  worker.stopReconciling();
  await api.close();
  worker.shutdown();
  await worker.ended;
  await dependencies.close();
}

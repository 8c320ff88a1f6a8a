// main of `npm run worker`. worker/ runs the workflows and activities of runs, deliveries, test runs and maintenance, and the
// reconciler.

import { setTimeout as sleep } from 'node:timers/promises';
import { log } from '../platform/observability/log.ts';
import { startMetrics, startTraces } from '../platform/observability/start-telemetry.ts';
import { endOnFatal, endOnSignal, exitOnFailure, exitOnSignal } from '../platform/process/end-process.ts';
import { WORKER_END_MAX_SECONDS } from '../platform/process/end-times.ts';
import { logFewOpenFiles } from '../platform/process/few-open-files.ts';
import { readProcessConfig, refuseListeners } from '../platform/process/read-process-config.ts';
import { installRuntime } from '../temporal/install-runtime.ts';
import { workflowBundle } from './bundle.ts';
import { serveHealth } from './health-check.ts';
import { openDependencies, untilDatabaseIsReady } from './open-dependencies.ts';
import { type RunningWorker, runWorker } from './run-worker.ts';

/** A failed worker may have left open something that does not close in order. */
const CLOSE_MAX_MS = 5_000;

exitOnSignal();
const config = await exitOnFailure(() => readProcessConfig());
await exitOnFailure(() => refuseListeners(config));
const traces = await startTraces('weir-worker');
const metrics = await exitOnFailure(() => startMetrics('weir-worker', config.metrics));
installRuntime(metrics.engine);
const models = config.workerRoles.includes('flows');
const dependencies = await exitOnFailure(() => openDependencies(config, { models }));
let worker: RunningWorker | undefined;
const stopping = new AbortController();
const health = await exitOnFailure(() =>
  config.healthPort === undefined
    ? undefined
    : serveHealth({ host: config.host, port: config.healthPort }, dependencies.health, {
        isPolling: () => worker?.isPolling() ?? false,
        isStopping: () => stopping.signal.aborted,
      }),
);
endOnSignal(stop, WORKER_END_MAX_SECONDS);
await logFewOpenFiles(config, { worker: config.workerRoles });
const bundle = await workflowBundle(config);
endOnFatal(stop);
await untilDatabaseIsReady(dependencies.db, config, stopping.signal);
if (!stopping.signal.aborted) {
  worker = await exitOnFailure(() =>
    runWorker({ ...dependencies, workflowBundle: bundle, measures: metrics.isOn }),
  );
  log.info({ task_queue: config.taskQueue }, `The worker takes ${models ? 'runs' : 'deliveries'}.`);
  // A signal may have come while the worker started.
  if (stopping.signal.aborted) worker.shutdown();
  await worker.ended.catch(async (error: unknown) => {
    log.fatal({ err: error }, 'The worker failed, which ends this process.');
    await Promise.race([close().catch(() => undefined), sleep(CLOSE_MAX_MS)]);
    process.exit(1);
  });
}
await close();

async function close(): Promise<void> {
  await health?.close();
  await dependencies.close();
  await metrics.shutdown();
  await traces.shutdown();
}

async function stop(): Promise<void> {
  stopping.abort();
  worker?.shutdown();
}

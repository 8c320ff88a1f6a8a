// main of `npm run serve`: API and worker in one process on one Temporal connection, the shortest path for /execute.
import { writeFileSync } from 'node:fs';
import { createWebhookListeners } from '../activities/deliveries/webhook-listeners.ts';
import { createInProcessRuns } from '../activities/in-process-runs.ts';
import { log } from '../platform/observability/log.ts';
import { startMetrics, startTraces } from '../platform/observability/start-telemetry.ts';
import { endOnFatal, endOnSignal, exitOnFailure, exitOnSignal } from '../platform/process/end-process.ts';
import { SERVE_END_MAX_SECONDS } from '../platform/process/end-times.ts';
import { logFewOpenFiles } from '../platform/process/few-open-files.ts';
import { readProcessConfig } from '../platform/process/read-process-config.ts';
import { restartCompiled } from '../platform/process/restart-compiled.ts';
import { installRuntime } from '../temporal/install-runtime.ts';
import { workflowBundle } from '../worker/bundle.ts';
import { openDependencies, untilDatabaseIsReady } from '../worker/open-dependencies.ts';
import { type RunningWorker, runWorker } from '../worker/run-worker.ts';
import { countOpenAtMost } from './http/open-requests.ts';
import { LINGER_MS, serveApi } from './serve.ts';

restartCompiled();
exitOnSignal();
const config = await exitOnFailure(() => readProcessConfig());
const traces = await startTraces('weir');
const metrics = await exitOnFailure(() => startMetrics('weir', config.metrics));
installRuntime(metrics.engine);
const dependencies = await exitOnFailure(() => openDependencies(config));
await logFewOpenFiles(config, {
  requests: countOpenAtMost(config.openRequestsMax),
  worker: config.workerRoles,
});
const inProcessRuns = createInProcessRuns();
const listeners = config.webhookListeners ? createWebhookListeners() : undefined;
const bundle = await workflowBundle(config);
const api = await exitOnFailure(() =>
  serveApi({ ...dependencies, inProcessRuns, listeners }, { lingerMs: LINGER_MS }),
);
// `npm start` checks there that this process listens (dev/service.ts).
const listeningFile = process.env.LISTENING_FILE;
if (listeningFile) await exitOnFailure(() => writeFileSync(listeningFile, String(process.pid)));
const stopping = new AbortController();
let worker: Promise<RunningWorker> | undefined;
endOnSignal(stop, SERVE_END_MAX_SECONDS);
endOnFatal(stop);
await untilDatabaseIsReady(dependencies.db, config, stopping.signal);
if (!stopping.signal.aborted) {
  worker = exitOnFailure(() =>
    runWorker({
      ...dependencies,
      workflowBundle: bundle,
      inProcessRuns,
      listeners,
      measures: metrics.isOn,
      runStarts: api.gates.runStarts,
    }),
  );
  const { ended } = await worker;
  log.info(
    { url: `http://${config.host}:${api.port}/api/v1`, task_queue: config.taskQueue },
    'The API listens, and the worker takes runs.',
  );
  await ended;
}

/** Drains the API first: the runs it waits for need the worker. */
async function stop(): Promise<void> {
  stopping.abort();
  void worker?.then(({ stopReconciler }) => stopReconciler());
  await api.close();
  // The worker may still be starting, on the connections that are closed below.
  const running = await worker;
  running?.shutdown();
  await running?.ended;
  await dependencies.close();
  await metrics.shutdown();
  await traces.shutdown();
}

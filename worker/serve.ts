// main of `npm run serve`: API and worker in one process on one Temporal connection, the shortest path for /execute.
import { writeFileSync } from 'node:fs';
import { countOpenAtMost } from '../api/http/open-requests.ts';
import { LINGER_MS, serveApi } from '../api/serve.ts';
import { createInProcessRuns } from '../db/runs/in-process-runs.ts';
import { installRuntime } from '../engine/install-runtime.ts';
import { createWebhookListeners } from '../net/webhook-listeners.ts';
import { log } from '../observability/log.ts';
import { startMetrics } from '../observability/metrics/start-metrics.ts';
import { startTraces } from '../observability/start-traces.ts';
import { endOnFatal } from '../process/end-on-fatal.ts';
import { endOnSignal, exitOnSignal } from '../process/end-on-signal.ts';
import { SERVE_END_MAX_SECONDS } from '../process/end-times.ts';
import { exitOnFailure } from '../process/exit-on-failure.ts';
import { tellFewOpenFiles } from '../process/few-open-files.ts';
import { openDependencies } from '../process/open-dependencies.ts';
import { readProcessConfig } from '../process/read-process-config.ts';
import { restartCompiled } from '../process/restart-compiled.ts';
import { workflowBundle } from './bundle.ts';
import { type RunningWorker, runWorker } from './run-worker.ts';
import { untilDatabaseIsReady } from './until-database-is-ready.ts';

restartCompiled();
exitOnSignal();
const config = await exitOnFailure(() => readProcessConfig());
const traces = await startTraces('weir');
const metrics = await exitOnFailure(() => startMetrics('weir', config.metrics));
installRuntime(metrics.engine);
const dependencies = await exitOnFailure(() => openDependencies(config));
await tellFewOpenFiles(config, {
  requests: countOpenAtMost(config.openRequestsMax),
  worker: config.workerRoles,
});
const inProcessRuns = createInProcessRuns();
const listeners = config.webhookListeners ? createWebhookListeners() : undefined;
const bundle = await workflowBundle(config);
const api = await exitOnFailure(() =>
  serveApi({ ...dependencies, inProcessRuns, listeners }, { lingerMs: LINGER_MS }),
);
// `npm start` reads there that it is this process that listens (embedded/service.ts).
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
      enterPlace: api.enterPlace,
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
  void worker?.then(({ stopDuties }) => stopDuties());
  await api.close();
  // It may be beginning still, on the connections that are closed below.
  const running = await worker;
  running?.shutdown();
  await running?.ended;
  await dependencies.close();
  await metrics.shutdown();
  await traces.shutdown();
}

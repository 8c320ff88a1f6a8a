// main of `npm run serve`: API and worker in one process on one Temporal connection, the shortest path for /execute.
import { serveApi } from '../api/serve.ts';
import { readConfig } from '../config.ts';
import { connect, QUERY_TIMEOUT_MS } from '../db/connect.ts';
import { createInProcessRuns } from '../db/runs/in-process-runs.ts';
import { createRequestKeys } from '../db/tenants/request-keys.ts';
import { connectToTemporal, createClient } from '../engine/connect.ts';
import { createValidator } from '../json-schema/validator.ts';
import { openRegistry } from '../models/live-registry.ts';
import { endOnFatal } from '../process/end-on-fatal.ts';
import { endOnSignal } from '../process/end-on-signal.ts';
import { exitOnFailure } from '../process/exit-on-failure.ts';
import { workflowBundle } from './bundle.ts';
import { installRuntime } from './install-runtime.ts';
import { runWorker } from './run-worker.ts';

/** Longer than the drain of the API and then that of the worker. */
const END_MAX_SECONDS = 75;

installRuntime();
const config = await exitOnFailure(() => readConfig());
const connection = await exitOnFailure(() => connectToTemporal(config));
const db = connect(config.databaseUrl, config.databaseConnections, QUERY_TIMEOUT_MS);
const validator = createValidator();
const registry = await exitOnFailure(() => openRegistry(config));
const inProcessRuns = createInProcessRuns();
const requestKeys = createRequestKeys(db, config);
const bundle = await workflowBundle(config.production);
const worker = await exitOnFailure(() =>
  runWorker({ config, db, connection, workflowBundle: bundle, registry, inProcessRuns, requestKeys }),
);
const api = await exitOnFailure(() =>
  serveApi({
    config,
    db,
    client: createClient(config, connection),
    requestKeys,
    validator,
    registry,
    inProcessRuns,
  }),
);
console.log(`API and worker: http://${config.host}:${api.port}/api/v1, task queue ${config.taskQueue}.`);
endOnSignal(stop, END_MAX_SECONDS);
endOnFatal(stop);
await worker.ended;

/** The API drains first: the runs it waits for need the worker. */
async function stop(): Promise<void> {
  worker.stopReconciling();
  await api.close();
  worker.shutdown();
  await worker.ended;
  registry.close();
  await requestKeys.close();
  await Promise.all([validator.close(), db.destroy()]);
  await connection.close();
}

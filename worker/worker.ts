// main of `npm run worker`
import { readConfig } from '../config.ts';
import { connect, QUERY_TIMEOUT_MS } from '../db/connect.ts';
import { createRequestKeys } from '../db/tenants/request-keys.ts';
import { connectToTemporal } from '../engine/connect.ts';
import { openRegistry } from '../models/live-registry.ts';
import { endOnFatal } from '../process/end-on-fatal.ts';
import { endOnSignal } from '../process/end-on-signal.ts';
import { exitOnFailure } from '../process/exit-on-failure.ts';
import { workflowBundle } from './bundle.ts';
import { installRuntime } from './install-runtime.ts';
import { runWorker } from './run-worker.ts';

/** Longer than what it runs, deliveries included, is given to finish. */
const END_MAX_SECONDS = 45;

installRuntime();
const config = await exitOnFailure(() => readConfig());
const connection = await exitOnFailure(() => connectToTemporal(config));
const db = connect(config.databaseUrl, config.databaseConnections, QUERY_TIMEOUT_MS);
const registry = await exitOnFailure(() => openRegistry(config));
const bundle = await workflowBundle(config.production);
const requestKeys = createRequestKeys(db, config);
const worker = await exitOnFailure(() =>
  runWorker({ config, db, connection, workflowBundle: bundle, registry, requestKeys }),
);
endOnSignal(async () => worker.shutdown(), END_MAX_SECONDS);
endOnFatal(async () => worker.shutdown());
console.log(`The worker takes runs from task queue ${config.taskQueue}.`);
await worker.ended;
registry.close();
await requestKeys.close();
await db.destroy();
await connection.close();

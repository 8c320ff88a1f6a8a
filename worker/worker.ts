// main of `npm run worker`
import { readConfig } from '../config.ts';
import { connect, QUERY_TIMEOUT_MS } from '../db/connect.ts';
import { createRequestKeys } from '../db/request-keys.ts';
import { endOnFatal } from '../end-on-fatal.ts';
import { endOnSignal } from '../end-on-signal.ts';
import { openRegistry } from '../models/live-registry.ts';
import { orExit } from '../or-exit.ts';
import { connectToTemporal } from '../temporal.ts';
import { workflowBundle } from './bundle.ts';
import { runWorker } from './run-worker.ts';
import { installRuntime } from './runtime.ts';

/** Longer than what it runs, deliveries included, is given to finish. */
const END_MAX_SECONDS = 45;

installRuntime();
const config = await orExit(() => readConfig());
const connection = await orExit(() => connectToTemporal(config));
const db = connect(config.databaseUrl, config.databaseConnections, QUERY_TIMEOUT_MS);
const registry = await orExit(() => openRegistry(config));
const bundle = await workflowBundle(config.production);
const requestKeys = createRequestKeys(db, config);
const worker = await orExit(() =>
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

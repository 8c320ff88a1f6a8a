// main of `npm run worker`. worker/ runs workflows and activities from Temporal's task queues, and the duties that repair
// what died (keep-reconciling.ts). Configuration comes in; runs, deliveries and test runs are carried out.
import { endOnFatal } from '../process/end-on-fatal.ts';
import { endOnSignal } from '../process/end-on-signal.ts';
import { exitOnFailure } from '../process/exit-on-failure.ts';
import { openDependencies } from '../process/open-dependencies.ts';
import { refuseListeners } from '../process/refuse-listeners.ts';
import { workflowBundle } from './bundle.ts';
import { installRuntime } from './install-runtime.ts';
import { runWorker } from './run-worker.ts';

/** Longer than the grace period of what the worker runs, deliveries included. */
const END_MAX_SECONDS = 45;

installRuntime();
const dependencies = await exitOnFailure(() => openDependencies());
await exitOnFailure(() => refuseListeners(dependencies.config));
const { config } = dependencies;
const bundle = await workflowBundle(config);
const worker = await exitOnFailure(() => runWorker({ ...dependencies, workflowBundle: bundle }));
endOnSignal(async () => worker.shutdown(), END_MAX_SECONDS);
endOnFatal(async () => worker.shutdown());
console.log(`The worker takes runs from task queue ${config.taskQueue}.`);
await worker.ended;
await dependencies.close();

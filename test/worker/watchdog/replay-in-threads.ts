// Replays a history (argument 2) with a workflow bundle (argument 1) in workflow threads, as a worker runs workflows.
import { readFileSync } from 'node:fs';
import { type ReplayWorkerOptions, Worker } from '@temporalio/worker';
import { createDataConverter } from '../../../temporal/data-converter.ts';
import { installRuntime } from '../../../temporal/install-runtime.ts';
import { createRunSinks } from '../../../worker/run-sinks.ts';

const [, , codePath = '', history = ''] = process.argv;
installRuntime();
// A replay runs workflows on the main thread unless it is told not to; the option's type does not say so.
const sinks = createRunSinks({ freePlace: () => undefined });
const dataConverter = createDataConverter({ temporalEncryption: { keys: [], encrypts: false } });
const options = { workflowBundle: { codePath }, dataConverter, sinks, debugMode: false };
await Worker.runReplayHistory(options as ReplayWorkerOptions, JSON.parse(readFileSync(history, 'utf8')));
process.exit();

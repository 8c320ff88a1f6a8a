// Replays a history (argument 2) with a workflow bundle (argument 1) in workflow threads, as a worker runs workflows.
import { readFileSync } from 'node:fs';
import { type ReplayWorkerOptions, Worker } from '@temporalio/worker';
import { createDataConverter } from '../../../temporal/data-converter.ts';
import { installRuntime } from '../../../temporal/install-runtime.ts';

const [, , codePath = '', history = ''] = process.argv;
installRuntime();
const dataConverter = createDataConverter({ temporalEncryption: { keys: [], encrypts: false } });
// A replay runs workflows on the main thread unless it is told not to; the option's type does not say so.
const options = { workflowBundle: { codePath }, dataConverter, debugMode: false };
await Worker.runReplayHistory(options as ReplayWorkerOptions, JSON.parse(readFileSync(history, 'utf8')));
process.exit();

// main of `npm run api`
import { endOnFatal } from '../process/end-on-fatal.ts';
import { endOnSignal } from '../process/end-on-signal.ts';
import { exitOnFailure } from '../process/exit-on-failure.ts';
import { openDependencies } from '../process/open-dependencies.ts';
import { refuseListeners } from '../process/refuse-listeners.ts';
import { serveApi } from './serve.ts';

/** Longer than the API takes to drain. */
const END_MAX_SECONDS = 40;

const dependencies = await exitOnFailure(() => openDependencies());
await exitOnFailure(() => refuseListeners(dependencies.config));
const { config } = dependencies;
const api = await exitOnFailure(() => serveApi(dependencies));
console.log(`The API listens on http://${config.host}:${api.port}/api/v1.`);
endOnSignal(stop, END_MAX_SECONDS);
endOnFatal(stop);

async function stop(): Promise<void> {
  await api.close();
  await dependencies.close();
}

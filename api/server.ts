// main of `npm run api`

import { installRuntime } from '../engine/install-runtime.ts';
import { log } from '../observability/log.ts';
import { startMetrics } from '../observability/metrics/start-metrics.ts';
import { startTraces } from '../observability/start-traces.ts';
import { endOnFatal } from '../process/end-on-fatal.ts';
import { endOnSignal, exitOnSignal } from '../process/end-on-signal.ts';
import { API_END_MAX_SECONDS } from '../process/end-times.ts';
import { exitOnFailure } from '../process/exit-on-failure.ts';
import { tellFewOpenFiles } from '../process/few-open-files.ts';
import { openDependencies } from '../process/open-dependencies.ts';
import { readProcessConfig } from '../process/read-process-config.ts';
import { refuseListeners } from '../process/refuse-listeners.ts';
import { countOpenAtMost } from './http/open-requests.ts';
import { LINGER_MS, serveApi } from './serve.ts';

exitOnSignal();
const config = await exitOnFailure(() => readProcessConfig());
await exitOnFailure(() => refuseListeners(config));
const traces = await startTraces('weir-api');
const metrics = await exitOnFailure(() => startMetrics('weir-api', config.metrics));
installRuntime(metrics.engine);
const dependencies = await exitOnFailure(() => openDependencies(config));
await tellFewOpenFiles(config, { requests: countOpenAtMost(config.openRequestsMax) });
const api = await exitOnFailure(() => serveApi(dependencies, { lingerMs: LINGER_MS }));
log.info({ url: `http://${config.host}:${api.port}/api/v1` }, 'The API listens.');
endOnSignal(stop, API_END_MAX_SECONDS);
endOnFatal(stop);

async function stop(): Promise<void> {
  await api.close();
  await dependencies.close();
  await metrics.shutdown();
  await traces.shutdown();
}

// main of `npm run api`

import { log } from '../platform/observability/log.ts';
import { startMetrics, startTraces } from '../platform/observability/start-telemetry.ts';
import { endOnFatal, endOnSignal, exitOnFailure, exitOnSignal } from '../platform/process/end-process.ts';
import { API_END_MAX_SECONDS } from '../platform/process/end-times.ts';
import { logFewOpenFiles } from '../platform/process/few-open-files.ts';
import { readProcessConfig, refuseListeners } from '../platform/process/read-process-config.ts';
import { installRuntime } from '../temporal/install-runtime.ts';
import { openDependencies } from '../worker/open-dependencies.ts';
import { countOpenAtMost } from './http/open-requests.ts';
import { LINGER_MS, serveApi } from './serve.ts';

exitOnSignal();
const config = await exitOnFailure(() => readProcessConfig());
await exitOnFailure(() => refuseListeners(config));
const traces = await startTraces('weir-api');
const metrics = await exitOnFailure(() => startMetrics('weir-api', config.metrics));
installRuntime(metrics.engine);
const dependencies = await exitOnFailure(() => openDependencies(config));
await logFewOpenFiles(config, { requests: countOpenAtMost(config.openRequestsMax) });
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

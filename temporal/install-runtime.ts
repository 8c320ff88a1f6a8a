import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { EngineMetrics } from '../platform/observability/metrics/engine-metrics.ts';
import { createEngineLog } from './engine-log.ts';

let installed = false;

/**
 * Sets up the engine's SDK in this process, once. Signals are left to us; engine-log.ts says which of its lines are logged.
 */
export function installRuntime(metrics?: EngineMetrics): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', createEngineLog()),
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      ...(metrics && { metrics }),
    },
  });
}

import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { EngineMetrics } from '../observability/metrics/engine-metrics.ts';
import { logEngineLine } from './log-engine-line.ts';

let installed = false;

/**
 * Sets up the engine's SDK in this process, once. Signals are left to us, and only the SDK's errors are logged, since failed
 * blocks and runs are visible in the Temporal Web UI and in the run's row.
 */
export function installRuntime(metrics?: EngineMetrics): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('ERROR', logEngineLine),
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } },
      ...(metrics && { metrics }),
    },
  });
}

import { DefaultLogger, Runtime } from '@temporalio/worker';

let installed = false;

/**
 * Sets the engine's side of this process up, once: signals are ours, and only its errors are logged: a failed block or
 * run is seen in the Temporal Web UI and in the run's row.
 */
export function installRuntime(): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
  });
}

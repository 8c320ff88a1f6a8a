import { type OperatorServer, serveOperators } from '../platform/observability/operator-server.ts';
import { type HealthCheck, toReadiness } from './health-check.ts';

const TYPE = 'application/json; charset=utf-8';

/** The state of a worker, as its readiness probe reports it. */
type WorkerState = { isPolling(): boolean; isStopping(): boolean };

/**
 * Serves the health of a worker as the API serves its own. /healthz is 200 while the process lives. /readyz is 503 when
 * this worker takes no work, or when the database or the engine is away.
 */
export function serveHealth(
  address: { host: string; port: number },
  health: HealthCheck,
  worker: WorkerState,
): Promise<OperatorServer> {
  return serveOperators(
    { ...address, variable: 'WEIR_HEALTH_PORT' },
    {
      '/healthz': async () => ({
        type: TYPE,
        body: JSON.stringify({ status: 'ok', away: await health.lookBriefly() }),
      }),
      '/readyz': async () => {
        // Other workers are none of its business.
        const { workers: _, ...away } = await health.look();
        const serves = worker.isPolling();
        const { status, body } = toReadiness(
          { ...away, ...(!serves && { workers: 'this worker does not ask for work' }) },
          { serves, isStopping: worker.isStopping() },
        );
        return { status, type: TYPE, body: JSON.stringify(body) };
      },
    },
  );
}

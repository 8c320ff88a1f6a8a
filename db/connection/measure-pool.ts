import type pg from 'pg';
import {
  connectionCount,
  connectionMax,
  connectionWaits,
} from '../../platform/observability/metrics/process-metrics.ts';

/** Reports the connections of a pool, and its queue, as metrics until the returned function is called. */
export function measurePool(pool: pg.Pool, countWaiting: () => number): () => void {
  const stops = [
    connectionCount.observe(() => [
      { value: pool.totalCount - pool.idleCount, labels: { 'db.client.connection.state': 'used' } },
      { value: pool.idleCount, labels: { 'db.client.connection.state': 'idle' } },
    ]),
    connectionMax.observe(() => [{ value: pool.options.max }]),
    connectionWaits.observe(() => [{ value: countWaiting() }]),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

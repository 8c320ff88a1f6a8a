import type pg from 'pg';
import {
  connectionCount,
  connectionMax,
  connectionWaits,
} from '../../platform/observability/metrics/process-metrics.ts';

/** Has the connections of a pool, and those who wait for one, be metrics until the returned function is called. */
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

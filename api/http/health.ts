import type { Middleware } from 'koa';
import { type HealthCheck, toReadiness } from '../../worker/health-check.ts';
import { RETRY_AFTER_SECONDS } from './retry-later.ts';

/**
 * Creates the two endpoints. `live` (/healthz) always answers 200. `ready` (/readyz) answers 503 when requests would
 * fail or `isReady` returns false. Both name the parts that are down. Missing workers or a missing object store do
 * not make the API unready: runs are accepted and wait, and few responses need the store.
 */
export function createHealth(
  { health }: { health: HealthCheck },
  isReady: () => boolean,
): { live: Middleware; ready: Middleware } {
  return {
    async live(ctx) {
      ctx.body = { status: 'ok', away: await health.lookBriefly() };
    },
    async ready(ctx) {
      const away = await health.look();
      const { status, body } = toReadiness(away, { serves: isReady(), isStopping: !isReady() });
      ctx.status = status;
      if (status === 503) ctx.set('Retry-After', String(RETRY_AFTER_SECONDS));
      ctx.body = body;
    },
  };
}

// /healthz and /readyz: for those who operate the service, and for what sends it its requests.
import { setTimeout } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Middleware } from 'koa';
import type { Config } from '../../config.ts';
import { acceptsWrites } from '../../db/connection/accepts-writes.ts';
import { DEFAULT_NAMESPACE } from '../../engine/connect.ts';
import { RETRY_AFTER } from './errors.ts';

/** A part that takes longer is away: whoever asks is answered within 2 s, whatever hangs. */
const CHECK_TIMEOUT_MS = 1_500;
/** Those who ask whether the process lives often wait for one second, and then end it. */
const LIVE_TIMEOUT_MS = 500;
/** However often and by whomever one is asked, the parts are asked once in this time. */
const KEEP_MS = 1_000;
/** A worker that has nothing to do asks for work once a minute. */
const POLLED_WITHIN_SECONDS = 90;
const WORKFLOW_TASKS = 1;

/** Which parts the service does not have at the moment, and why, in words fit for everybody. */
type Away = { database?: string; engine?: string; workers?: string };
type Check = { away: Away; done: Promise<unknown>; at: number };
type Deps = { config: Config; client: Client };

/**
 * `live` answers 200 as long as the process does, `ready` 503 when requests would fail, or `isReady` says no; both name
 * what is away. Without workers runs are accepted, and wait: that makes nobody unready.
 */
export function createHealth(deps: Deps, isReady: () => boolean): { live: Middleware; ready: Middleware } {
  let last: Check | undefined;
  function check(): Check {
    if (!last || performance.now() - last.at > KEEP_MS) last = startCheck(deps);
    return last;
  }
  return {
    async live(ctx) {
      const { away, done } = check();
      await Promise.race([done, setTimeout(LIVE_TIMEOUT_MS)]);
      ctx.body = { status: 'ok', away };
    },
    async ready(ctx) {
      const { away, done } = check();
      await done;
      const ready = isReady() && !away.database && !away.engine;
      ctx.status = ready ? 200 : 503;
      if (!ready) ctx.set('Retry-After', RETRY_AFTER);
      ctx.body = { status: ready ? 'ready' : 'not ready', ...(!isReady() && { stopping: true }), away };
    },
  };
}

/** Each part is away until it has answered. */
function startCheck({ config, client }: Deps): Check {
  const away: Away = { database: 'does not answer', engine: 'does not answer' };
  const database = acceptsWrites(config.databaseUrl, CHECK_TIMEOUT_MS).then((writes) => {
    if (writes) delete away.database;
    else away.database = 'takes no writes';
  });
  const engine = countPollers({ config, client }).then((count) => {
    delete away.engine;
    if (count === 0) away.workers = 'none asks for work';
  });
  const done = Promise.race([Promise.allSettled([database, engine]), setTimeout(CHECK_TIMEOUT_MS)]);
  return { away, done, at: performance.now() };
}

async function countPollers({ config, client }: Deps): Promise<number> {
  const { pollers } = await client.withDeadline(Date.now() + CHECK_TIMEOUT_MS, () =>
    client.workflowService.describeTaskQueue({
      namespace: config.temporal.namespace ?? DEFAULT_NAMESPACE,
      taskQueue: { name: config.taskQueue },
      taskQueueType: WORKFLOW_TASKS,
    }),
  );
  const since = Date.now() / 1_000 - POLLED_WITHIN_SECONDS;
  return pollers.filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) > since).length;
}

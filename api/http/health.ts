// /healthz and /readyz: for operators and load balancers.
import { setTimeout } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Middleware } from 'koa';
import type { Config } from '../../config.ts';
import { findWriteRefusal } from '../../db/connection/find-write-refusal.ts';
import { askEngine } from '../../engine/ask-engine.ts';
import { DEFAULT_NAMESPACE } from '../../engine/connect.ts';
import { RETRY_AFTER_SECONDS } from './errors.ts';

/** A part that takes longer counts as away, so that every probe is answered within 2 s. */
const CHECK_TIMEOUT_MS = 1_500;
/** Liveness probes often time out after one second, and then end the process. */
const LIVE_TIMEOUT_MS = 500;
/** The parts are asked once in this time, however many probes come. */
const KEEP_MS = 1_000;
/** An idle worker asks for work once a minute. */
const POLLED_WITHIN_SECONDS = 90;
const WORKFLOW_TASKS = 1;

/** The parts that are away, and why, in words that may be public. */
type Away = { database?: string; engine?: string; workers?: string };
type Check = { away: Away; done: Promise<unknown>; at: number };
type Deps = { config: Config; client: Client };

/**
 * Creates the two endpoints. `live` answers 200 as long as the process runs; `ready` answers 503 when requests would fail or
 * `isReady` says no. Both name the parts that are away. Missing workers do not make the API unready: runs are accepted and
 * wait for them.
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
      if (!ready) ctx.set('Retry-After', String(RETRY_AFTER_SECONDS));
      ctx.body = { status: ready ? 'ready' : 'not ready', ...(!isReady() && { stopping: true }), away };
    },
  };
}

/** Asks all parts at once; each counts as away until it has answered. */
function startCheck({ config, client }: Deps): Check {
  const away: Away = { database: 'does not answer', engine: 'does not answer' };
  const database = findWriteRefusal(config.databaseUrl, CHECK_TIMEOUT_MS).then((refusal) => {
    if (refusal === undefined) delete away.database;
    else away.database = refusal;
  });
  const engine = countPollers({ config, client }).then((count) => {
    delete away.engine;
    if (count === 0) away.workers = 'no worker asks for work';
  });
  const done = Promise.race([Promise.allSettled([database, engine]), setTimeout(CHECK_TIMEOUT_MS)]);
  return { away, done, at: performance.now() };
}

async function countPollers({ config, client }: Deps): Promise<number> {
  const describe = () =>
    client.workflowService.describeTaskQueue({
      namespace: config.temporal.namespace ?? DEFAULT_NAMESPACE,
      taskQueue: { name: config.taskQueue },
      taskQueueType: WORKFLOW_TASKS,
    });
  const { pollers } = await askEngine(client, describe, CHECK_TIMEOUT_MS);
  const since = Date.now() / 1_000 - POLLED_WITHIN_SECONDS;
  return pollers.filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) > since).length;
}

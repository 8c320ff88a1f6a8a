import { setTimeout } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { sql } from 'kysely';
import pg from 'pg';
import type { Db } from '../db/connect.ts';
import { findAddressRefusal, isOutOfConnections } from '../db/connection/database-errors.ts';
import { findWriteRefusal, NOT_MIGRATED } from '../db/connection/find-write-refusal.ts';
import { FREE_CONNECTIONS } from '../db/connection/free-connections.ts';
import { listReleaseMigrations } from '../db/list-migrations.ts';
import { SEARCH_ATTRIBUTES } from '../flow/run.ts';
import type { Config } from '../platform/config/config.ts';
import { describeNetworkError } from '../platform/net/describe-network-error.ts';
import { log } from '../platform/observability/log.ts';
import { dependencyUp } from '../platform/observability/metrics/process-metrics.ts';
import { type OperatorServer, serveOperators } from '../platform/observability/operator-server.ts';
import { BUILD, VERSION } from '../platform/version.ts';
import { askEngine } from '../temporal/ask-engine.ts';
import { describeNothing, findNamespaceRefusal, GRPC, grpcCodeOf } from '../temporal/engine-errors.ts';
import { isSeen, listPollers, listUnserved, WORKFLOW_TASKS } from '../temporal/list-pollers.ts';

const TYPE = 'application/json; charset=utf-8';

/** The state of a worker, as its readiness probe reports it. */
type WorkerState = { isPolling(): boolean; isStopping(): boolean };

/** A dependency that takes longer counts as away, so that every probe is answered within 2 s. */
const CHECK_TIMEOUT_MS = 1_500;
/** Liveness probes often time out after one second, and then end the process. */
const LIVE_TIMEOUT_MS = 500;
/** A refusal that comes and goes is logged once in this time. */
const QUIET_MS = 60_000;
/** Dependencies are checked once in this time, however many probes come. */
const KEEP_MS = 1_000;

/** The dependencies that are away, with a reason that may be public. */
type Away = { database?: string; engine?: string; workers?: string; objects?: string };
/** Sentences that name lacks which only an operator can mend. */
type Mend = { database?: string; engine?: string };
/** `saturated`: the messages with which PostgreSQL refused another connection. */
type Check = { away: Away; mend: Mend; saturated: string[]; done: Promise<unknown>; at: number };
/** `attributes`: whether the engine has known the search attributes of runs; it does not forget them. */
type Deps = {
  config: Config;
  client: Client;
  db: Db;
  migrations: Promise<string[]>;
  known?: { attributes: boolean };
};

export type HealthCheck = {
  /** Answers within half a second; a part that has not answered by then counts as away. */
  lookBriefly(): Promise<Away>;
  look(): Promise<Away>;
  /** Ends the metric. */
  close(): void;
};

/** Creates the check of what the process needs, which is also the metric `weir.dependency.up`. */
export function createHealthCheck(given: Omit<Deps, 'migrations' | 'known'>): HealthCheck {
  const deps = { ...given, migrations: listReleaseMigrations(), known: { attributes: false } };
  let last: Check | undefined;
  let found: Away | undefined;
  const told: Mend = {};
  let quietUntil = 0;
  /** Tells the log once, as long as it lasts, what an operator has to mend, and once a minute that connections are used up. */
  function tell({ away, mend, saturated }: Check): void {
    for (const part of ['database', 'engine'] as const) {
      // Nothing is known of a part that is silent or slow: it may lack what it lacked before.
      if (away[part]?.startsWith(NO_ANSWER)) continue;
      const reason = mend[part];
      if (reason && told[part] !== reason)
        log.error({ reason }, 'The service is not ready until this is mended.');
      told[part] = reason;
    }
    if (saturated.length === 0 || performance.now() < quietUntil) return;
    quietUntil = performance.now() + QUIET_MS;
    log.warn({ reason: saturated[0] }, `PostgreSQL has no free connection: ${FREE_CONNECTIONS}.`);
  }
  function check(): Check {
    if (last && performance.now() - last.at <= KEEP_MS) return last;
    const started = lookAtDependencies(deps);
    last = started;
    void started.done.then(() => {
      found = started.away;
      tell(started);
    });
    return started;
  }
  // The log says so even where nobody asks.
  check();
  const close = dependencyUp.observe(() => {
    // Each export has what was asked for at the one before: exports do not wait for answers.
    check();
    const parts = PARTS.filter((part) => part !== 'objects' || deps.db.objects);
    return found ? parts.map((part) => ({ value: found?.[part] ? 0 : 1, labels: { dependency: part } })) : [];
  });
  return {
    async lookBriefly() {
      const { away, done } = check();
      await Promise.race([done, setTimeout(LIVE_TIMEOUT_MS)]);
      return away;
    },
    async look() {
      const { away, done } = check();
      await done;
      return away;
    },
    close,
  };
}

/** Makes the body of /healthz. */
export async function describeLife(health: HealthCheck) {
  return { status: 'ok', version: VERSION, build: BUILD, away: await health.lookBriefly() };
}

/** Makes the answer of /readyz: 503 when this process does not serve, or nothing could be recorded or begin. */
export function toReadiness(away: Away, process: { serves: boolean; isStopping: boolean }) {
  const ready = process.serves && !away.database && !away.engine;
  return {
    status: ready ? 200 : 503,
    body: {
      status: ready ? 'ready' : 'not ready',
      ...(process.isStopping && { stopping: true }),
      version: VERSION,
      build: BUILD,
      away,
    },
  };
}

const NO_ANSWER = 'does not answer';
const NO_WORKFLOW = 'answers, but serves no workflow: its store may be full or away';
export const NO_CONNECTION = 'has no free connection (max_connections)';
/** A worker registers them when it starts. Temporal learns those of a fresh namespace some seconds later. */
export const NO_ATTRIBUTES = 'does not know the search attributes of runs yet';
const ATTRIBUTES_QUERY = Object.keys(SEARCH_ATTRIBUTES)
  .map((name) => `${name} is null`)
  .join(' and ');
const PARTS = ['database', 'engine', 'workers', 'objects'] as const;

/** Asks all parts at once; each counts as away until it has answered. `done` resolves after `timeoutMs` at the latest. */
export function lookAtDependencies(
  { config, client, db, migrations, known = { attributes: false } }: Deps,
  timeoutMs = CHECK_TIMEOUT_MS,
): Check {
  const away: Away = { database: NO_ANSWER, engine: NO_ANSWER };
  const mend: Mend = {};
  const saturated: string[] = [];
  if (db.objects) away.objects = NO_ANSWER;
  const database = migrations
    .then((needed) => findWriteRefusal(config.databaseUrl, timeoutMs, needed))
    .then((refusal) => {
      if (refusal === undefined) delete away.database;
      else away.database = refusal;
      if (refusal === NOT_MIGRATED) mend.database = `The database ${refusal}.`;
    })
    .catch(async (error: unknown) => {
      if (isOutOfConnections(error)) {
        saturated.push((error as Error).message);
        away.database = NO_CONNECTION;
        // Requests go on over the connections that are open already.
        await sql`select 1`.execute(db);
        delete away.database;
        return;
      }
      const { code = '' } = error instanceof pg.DatabaseError ? error : {};
      const refusal = findAddressRefusal(error);
      if (refusal) mend.database = `The database ${refusal}.`;
      away.database = refusal ?? (code ? `refuses service (SQLSTATE ${code})` : describeSilence(error));
    });
  const objects = db.objects?.findProblem(timeoutMs).then((problem) => {
    if (problem === undefined) delete away.objects;
    else away.objects = problem;
  });
  const { namespace } = config.temporal;
  const queue = findLackOfWorkers(client, config.taskQueue, timeoutMs).then((lack) => {
    if (lack) away.workers = lack;
    away.engine = NO_WORKFLOW;
  });
  const nothing = client.withDeadline(Date.now() + timeoutMs, () =>
    describeNothing(client.workflowService, namespace),
  );
  let lacksAttributes = false;
  const attributes = known.attributes ? undefined : askForAttributes();
  async function askForAttributes(): Promise<void> {
    // With an unknown attribute, Temporal refuses this question as it refuses to start a workflow.
    const query = `WorkflowId = 'none' and ${ATTRIBUTES_QUERY}`;
    const ask = () => client.workflowService.countWorkflowExecutions({ namespace, query });
    await client.withDeadline(Date.now() + timeoutMs / 2, ask).then(
      () => {
        known.attributes = true;
      },
      // A search that does not answer keeps nothing from starting.
      (error: unknown) => {
        lacksAttributes = grpcCodeOf(error) === GRPC.invalidArgument;
      },
    );
  }
  const engine = Promise.all([queue, nothing, attributes]).then(
    () => {
      if (lacksAttributes) away.engine = NO_ATTRIBUTES;
      else delete away.engine;
    },
    (error: unknown) => {
      const refusal = findNamespaceRefusal(error, namespace);
      if (!refusal) return;
      away.engine = refusal;
      mend.engine = `The engine ${refusal}.`;
    },
  );
  const done = Promise.race([Promise.allSettled([database, engine, objects]), setTimeout(timeoutMs)]);
  return { away, mend, saturated, done, at: performance.now() };
}

function describeSilence(error: unknown): string {
  const reason = describeNetworkError(error, '');
  return reason ? `${NO_ANSWER}: ${reason}` : NO_ANSWER;
}

/** Says what keeps workflows of a task queue from beginning, as far as workers do. Rejects while the engine is away. */
export async function findLackOfWorkers(
  client: Client,
  taskQueue: string,
  timeoutMs: number,
): Promise<string | undefined> {
  const queue = { namespace: client.options.namespace, name: taskQueue, type: WORKFLOW_TASKS } as const;
  const list = () => listPollers(client.workflowService, queue);
  const polled = await askEngine(client, list, timeoutMs);
  if (!polled.pollers.some(isSeen)) return 'no worker asks for work';
  const unserved = listUnserved(polled).map(({ state }) => state);
  return unserved.length > 0 ? `no worker of the ${unserved.join(' or ')} version asks for work` : undefined;
}

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
        body: JSON.stringify(await describeLife(health)),
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

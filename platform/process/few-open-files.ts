import { readFile } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { log } from '../observability/log.ts';

/** Connections to the engine, providers and collectors, pipes, and the files of Node.js. */
const OTHERS = 100;
/** Connections of a process to PostgreSQL besides its pool: one for LISTEN, and two for health checks. */
const CONNECTIONS_BESIDES_POOL = 3;
/** Pipes to a sandbox process. */
const PIPES = 3;

type Limits = Pick<
  Config,
  'databaseConnections' | 'sandboxProcesses' | 'sandboxReserve' | 'modelConcurrency' | 'webhookConcurrency'
>;

/** `requests`: how many an API may have open; `worker`: what the process does as one. */
type Parts = { requests?: number; worker?: Config['workerRoles'] };

const MORE_OPEN_FILES =
  'Raise the limit (ulimit -n; LimitNOFILE= of systemd, ulimits of Docker), or lower WEIR_OPEN_REQUESTS_MAX of an API, WEIR_MODEL_CONCURRENCY and WEIR_WEBHOOK_CONCURRENCY of a worker.';

/**
 * Describes that the process may open fewer files than its limits need; undefined where it may open enough, or the limit is
 * unknown.
 */
export async function describeFewOpenFiles(
  limits: Limits,
  { requests = 0, worker = [] }: Parts,
): Promise<string | undefined> {
  const { sandboxProcesses, sandboxReserve, modelConcurrency, webhookConcurrency } = limits;
  const ofRole = {
    flows: PIPES * (sandboxProcesses + sandboxReserve) + modelConcurrency,
    webhooks: webhookConcurrency,
  };
  const ofWorker = worker.reduce((sum, role) => sum + ofRole[role], 0);
  const needed = OTHERS + CONNECTIONS_BESIDES_POOL + limits.databaseConnections + requests + ofWorker;
  const max = await readOpenFilesMax();
  return max < needed
    ? `A process may have ${max} files and connections open, and ${needed} are needed for what is configured`
    : undefined;
}

/** Logs a warning when this process may open fewer files than its limits need: connections would be reset without an error. */
export async function logFewOpenFiles(limits: Limits, parts: Parts): Promise<void> {
  const reason = await describeFewOpenFiles(limits, parts);
  if (reason) log.warn({ reason }, `Connections may be reset. ${MORE_OPEN_FILES}`);
}

/**
 * Reads the soft limit, which Node.js raises to the hard limit. Infinite where the system does not show it (only Linux
 * does).
 */
async function readOpenFilesMax(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}

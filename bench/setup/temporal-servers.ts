// Temporal servers to measure against: the full one on PostgreSQL with the settings of docker-compose.yml (one process, four
// history shards), and the development server.
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { stringify } from 'yaml';
import { cacheFolder } from '../../dev/cache-folder.ts';
import { type Child, startChild } from '../../dev/processes/child.ts';
import { findFreePort } from '../../dev/processes/ports.ts';
import type { Report } from '../../dev/progress.ts';
import { getTemporalBinary } from '../../dev/temporal/binary.ts';
import { buildTemporal } from '../../dev/temporal/build.ts';
import { DYNAMIC_CONFIG } from '../../dev/temporal/dynamic-config.ts';

/** The release that `dev/temporal/server-module/go.mod` pins. */
const SERVER_VERSION = '1.31.2';
const NAMESPACE = 'default';
const START_TIMEOUT_MS = 60_000;
const DATABASES = { temporal: 'postgresql/v12/temporal', temporal_visibility: 'postgresql/v12/visibility' };
const PORTS = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'].flatMap((service) => [
  `${service}_GRPC_PORT`,
  `${service}_MEMBERSHIP_PORT`,
]);

/** The server stores ports in 15 bits, and ports picked by the system are larger. */
const FIRST_PORT = 17_233;

type FullTemporal = { address: string; child: Child; stop(): Promise<void> };

/** Builds the server where it is not cached, sets its databases up and starts it. Throws an Error with the end of a log. */
export async function startFullTemporal(
  stateFolder: string,
  databaseUrl: string,
  report: Report,
): Promise<FullTemporal> {
  const folder = path.join(
    cacheFolder(),
    `temporal-server-${SERVER_VERSION}-${process.platform}-${process.arch}`,
  );
  const server = await provide('server', path.join(folder, 'temporal-server'), stateFolder, report);
  const schemaTool = await provide('schemaTool', path.join(folder, 'temporal-sql-tool'), stateFolder, report);
  report('setting its databases up');
  setUpDatabases(schemaTool, new URL(databaseUrl));
  report('starting');
  const env = await serverEnvironment(stateFolder, new URL(databaseUrl));
  const child = startChild({
    ...{ stateFolder, name: 'temporal', order: 2, env },
    ...{ command: server, args: ['--allow-no-auth', 'start'], stopSignal: 'SIGTERM', stopTimeoutMs: 20_000 },
  });
  const address = `127.0.0.1:${env.FRONTEND_GRPC_PORT}`;
  const problem = await provideNamespace(child, address);
  if (!problem) return { address, child, stop: child.stop };
  const end = child.describeLog();
  await child.stop();
  throw new Error(`The Temporal server ${problem}. ${end}`);
}

async function provide(
  program: 'server' | 'schemaTool',
  target: string,
  stateFolder: string,
  report: Report,
): Promise<string> {
  if (existsSync(target)) return target;
  try {
    return await buildTemporal(program, stateFolder, target, report);
  } catch (error) {
    throw new Error(
      `${target} is missing and could not be built: ${error instanceof Error ? error.message : error}\n` +
        'Install Go 1.26.4 or newer, or put that file there (`--engine postgres` needs it).',
    );
  }
}

/** Creates both databases with the schemas that are built into the tool. */
function setUpDatabases(schemaTool: string, { hostname, port, username, password }: URL): void {
  for (const [database, schema] of Object.entries(DATABASES))
    for (const step of [['create'], ['setup-schema', '-v', '0.0'], ['update-schema', '-s', schema]]) {
      const connection = ['--plugin', 'postgres12', '--ep', hostname, '-p', port, '-u', username];
      const { status, error, stdout, stderr } = spawnSync(
        schemaTool,
        [...connection, '--pw', decodeURIComponent(password), '--db', database, ...step],
        { encoding: 'utf8' },
      );
      if (status === 0) continue;
      throw new Error(
        `temporal-sql-tool ${step.join(' ')}: ${error?.message ?? (stderr || stdout).slice(-1_000)}`,
      );
    }
}

/** The server's built-in configuration reads these variables, as in its container image. */
async function serverEnvironment(
  stateFolder: string,
  { hostname, port: databasePort, username, password }: URL,
): Promise<Record<string, string>> {
  const settings = Object.entries(DYNAMIC_CONFIG).map(([key, value]) => [key, [{ value }]]);
  const dynamicConfig = path.join(stateFolder, 'dynamic-config.yaml');
  writeFileSync(dynamicConfig, stringify(Object.fromEntries(settings)));
  const ports: Record<string, string> = {};
  let port = FIRST_PORT;
  for (const name of PORTS) {
    while ((await findFreePort(port)) !== port) port += 1;
    ports[name] = String(port);
    port += 1;
  }
  return {
    DB: 'postgres12',
    DB_PORT: databasePort,
    POSTGRES_SEEDS: hostname,
    POSTGRES_USER: username,
    POSTGRES_PWD: decodeURIComponent(password),
    BIND_ON_IP: '127.0.0.1',
    NUM_HISTORY_SHARDS: '4',
    SQL_MAX_CONNS: '20',
    SQL_VIS_MAX_CONNS: '10',
    FRONTEND_HTTP_PORT: '0',
    LOG_LEVEL: 'warn',
    DYNAMIC_CONFIG_FILE_PATH: dynamicConfig,
    ...ports,
  };
}

/** Waits for the namespace, and creates a missing namespace. Returns the problem, if any. */
async function provideNamespace(child: Child, address: string): Promise<string | undefined> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!child.hasExited()) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 2_000 });
      try {
        const { workflowService } = connection;
        await workflowService
          .registerNamespace({ namespace: NAMESPACE, workflowExecutionRetentionPeriod: msToTs('1 day') })
          .catch(() => undefined);
        // Answers from the cache that starting a workflow reads too.
        await workflowService.describeTaskQueue({ namespace: NAMESPACE, taskQueue: { name: 'ready' } });
        return undefined;
      } finally {
        await connection.close();
      }
    } catch (error) {
      if (Date.now() > deadline) return `did not answer within ${START_TIMEOUT_MS / 1000} s: ${error}`;
    }
    await sleep(200);
  }
  return child.exited;
}

// Temporal's development server with the settings for one machine, and without what Weir's embedded server has besides for
// SQLite (dev/temporal/temporal.ts): all indexes, visibility records at once, each commit on disk, no fairness.

/** Starts the server on a file of its own. Throws an Error with the end of its log. */
export async function startPlainTemporal(
  stateFolder: string,
): Promise<{ address: string; child: Child; stop(): Promise<void> }> {
  const command = await getTemporalBinary({ stateFolder });
  const port = await findFreePort();
  const settings = Object.entries(DYNAMIC_CONFIG).filter(([key]) => key !== 'matching.enableFairness');
  const child = startChild({
    stateFolder,
    name: 'plain-temporal',
    order: 2,
    command,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 15_000,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--log-level', 'warn'],
      ...['--port', String(port), '--ui-port', String(await findFreePort())],
      ...['--db-filename', path.join(stateFolder, 'plain-temporal.db')],
      ...['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=full'],
      ...settings.flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
    ],
  });
  const address = `127.0.0.1:${port}`;
  const problem = await provideNamespace(child, address);
  if (!problem) return { address, child, stop: child.stop };
  const end = child.describeLog();
  await child.stop();
  throw new Error(`The plain Temporal server ${problem}. ${end}`);
}

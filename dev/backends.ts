// PostgreSQL and Temporal for a local start: the configured servers, else our own.
import { DEFAULT_ADDRESS, isTemporalConfigured, type TemporalConnection } from '../platform/config/config.ts';
import { type Postgres, startPostgres } from './postgres/postgres.ts';
import type { Child } from './processes/child.ts';
import { reservePort } from './processes/ports.ts';
import type { Progress } from './progress.ts';
import { startTemporal } from './temporal/temporal.ts';

const UI_PORT = 8233;
/** Connections beyond those of the service's pool: up to four of its own, commands, another process on this database. */
const MORE_CONNECTIONS = 40;
const CONNECT_TIMEOUT_MS = 10_000;

/** A backend: `env` is for the service; `local` is set when the server is our own, to keep it running. */
export type Backend = {
  env: NodeJS.ProcessEnv;
  ports: Record<string, number>;
  uiUrl?: string;
  local?: { child: Child; restart(): Promise<Child> };
};

type Context = { stateFolder: string; ports: Record<string, number>; progress: Progress };

/** Starts PostgreSQL with its data in the state folder, unless a database is `configured`. */
export async function provideDatabase(
  context: Context,
  password: string,
  poolConnections: number,
  configured: string | undefined,
): Promise<Backend> {
  const { stateFolder, progress } = context;
  if (configured) return { env: {}, ports: {} };
  const task = progress.begin('PostgreSQL');
  const start = (port: number | undefined): Promise<Postgres> =>
    startPostgres({
      stateFolder,
      password,
      database: 'weir',
      port,
      maxConnections: poolConnections + MORE_CONNECTIONS,
      report: task.note,
    });
  try {
    const { url, port, child, folder } = await start(context.ports.postgres);
    task.done(folder);
    return {
      env: { DATABASE_URL: url },
      ports: { postgres: port },
      local: { child, restart: async () => requireSamePort(await start(port), port) },
    };
  } finally {
    task.drop();
  }
}

/** Uses the server that is `configured`, or starts a development server on the state folder. */
export async function provideTemporal(context: Context, configured: TemporalConnection): Promise<Backend> {
  const { stateFolder, progress, ports } = context;
  const task = progress.begin('Temporal');
  try {
    if (isTemporalConfigured(configured)) {
      task.say('connecting to the configured server');
      task.done(await checkTemporal(configured));
      return { env: {}, ports: {} };
    }
    const note = (line: string) => progress.line(line);
    const ui = await reservePort('the Temporal UI', ports.temporalUi ?? UI_PORT, UI_PORT, note);
    const start = (port: number | undefined) =>
      startTemporal({ stateFolder, port, uiPort: ui, report: task.say, note: task.note });
    const temporal = await start(ports.temporal);
    const { address, namespace, uiUrl, port, child } = temporal;
    task.done(address);
    return {
      env: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
      ports: { temporal: port, temporalUi: temporal.uiPort },
      uiUrl,
      local: { child, restart: async () => requireSamePort(await start(port), port) },
    };
  } finally {
    task.drop();
  }
}

/** Reports at once that a configured server does not work; otherwise the service would never become ready. */
async function checkTemporal(configured: TemporalConnection): Promise<string> {
  const { connectionOptions, namespace } = configured;
  const { address = `${DEFAULT_ADDRESS}, since TEMPORAL_ADDRESS is not set` } = connectionOptions;
  const where = `${address}; namespace ${namespace}`;
  try {
    // Loaded only here: a start with its own servers would keep its memory and never use it.
    const { Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ ...connectionOptions, connectTimeout: CONNECT_TIMEOUT_MS });
    await connection.workflowService.describeNamespace({ namespace });
    await connection.close();
    return where;
  } catch (error) {
    throw new Error(
      `The configured Temporal server (${where}) does not answer: ${error instanceof Error ? error.message : error}. ` +
        'Correct TEMPORAL_ADDRESS and the other TEMPORAL_ variables, or unset them to start a local server.',
    );
  }
}

/** Requires the old port: the running service knows no other address of the backend. */
async function requireSamePort(started: { port: number; child: Child }, port: number): Promise<Child> {
  if (started.port === port) return started.child;
  await started.child.stop();
  throw new Error(`port ${port} is taken by another program`);
}

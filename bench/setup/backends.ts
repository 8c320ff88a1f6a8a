import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres } from '../../dev/postgres/postgres.ts';
import type { Child } from '../../dev/processes/child.ts';
import { startWatchdog } from '../../dev/processes/watchdog.ts';
import type { Progress } from '../../dev/progress.ts';
import { startTemporal } from '../../dev/temporal/temporal.ts';
import { startFullTemporal } from './temporal-servers.ts';

/** The servers that are measured; a pid is undefined when the server was not started here. `onStop` runs last first. */
export type Backends = {
  stateFolder: string;
  databaseUrl: string;
  temporalAddress: string;
  pids: { PostgreSQL: number | undefined; Temporal: number | undefined };
};

/** Temporal's development server as `npm start` runs it, or the full server on the same PostgreSQL as Weir. */
export type Engine = 'dev' | 'postgres';

type Server = { address: string; child: Child; stop(): Promise<void> };

/** Uses TEST_DATABASE_URL and TEST_TEMPORAL_ADDRESS where set, else starts our own servers with fsync on. */
export async function startBackends(
  progress: Progress,
  onStop: (stop: () => Promise<void>) => void,
  engine: Engine = 'dev',
): Promise<Backends> {
  const { TEST_DATABASE_URL, TEST_TEMPORAL_ADDRESS } = process.env;
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-bench-'));
  onStop(async () => rmSync(stateFolder, { recursive: true, force: true }));
  startWatchdog(stateFolder);

  async function bringUp<T extends { stop(): Promise<void> }>(
    name: string,
    given: string | undefined,
    start: (report: (line: string) => void) => Promise<T>,
  ): Promise<T | undefined> {
    if (given) return undefined;
    const task = progress.begin(name);
    try {
      const server = await start(task.say);
      onStop(server.stop);
      task.done();
      return server;
    } finally {
      task.drop();
    }
  }
  const postgres = await bringUp('PostgreSQL', TEST_DATABASE_URL, async (report) => {
    const server = await startPostgres({ stateFolder, password: 'weir', durable: true, report });
    onStop(async () => rmSync(server.folder, { recursive: true, force: true }));
    return server;
  });
  const databaseUrl = postgres?.url ?? TEST_DATABASE_URL ?? '';
  const temporal = await bringUp<Server>('Temporal', TEST_TEMPORAL_ADDRESS, (report) =>
    engine === 'dev'
      ? startTemporal({ stateFolder, report })
      : startFullTemporal(stateFolder, databaseUrl, report),
  );
  return {
    stateFolder,
    databaseUrl,
    temporalAddress: temporal?.address ?? TEST_TEMPORAL_ADDRESS ?? '',
    pids: { PostgreSQL: postgres?.child.pid, Temporal: temporal?.child.pid },
  };
}

// The servers that all test files share: PostgreSQL, with a migrated database to copy, and Temporal.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres } from '../dev/postgres/postgres.ts';
import { startWatchdog } from '../dev/processes/watchdog.ts';
import { createProgress, type Report } from '../dev/progress.ts';
import { startTemporal } from '../dev/temporal/temporal.ts';
import { createTestDatabase } from './db/test-database.ts';

type Servers = {
  /** Tells the tests where the servers are. */
  env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
};

/** Starts what TEST_DATABASE_URL and TEST_TEMPORAL_ADDRESS do not name. */
export async function startServers(): Promise<Servers> {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-test-'));
  startWatchdog(stateFolder);
  const progress = createProgress();
  const stops = [async () => rmSync(stateFolder, { recursive: true, force: true })];
  const stop = async () => {
    for (const stopOne of stops.reverse()) await stopOne();
  };
  const bringUp = async (name: string, start: (report: Report) => Promise<string>) => {
    const task = progress.begin(name);
    try {
      const value = await start(task.say);
      task.done(value.replace(/:[^:@/]+@/, ':…@'));
      return value;
    } finally {
      task.drop();
    }
  };
  const startDatabase = () =>
    bringUp('PostgreSQL', async (report) => {
      const postgres = await startPostgres({ stateFolder, password: 'weir', durable: false, report });
      stops.push(async () => {
        await postgres.stop();
        rmSync(postgres.folder, { recursive: true, force: true });
      });
      return postgres.url;
    });
  const startEngine = () =>
    bringUp('Temporal', async (report) => {
      const temporal = await startTemporal({ stateFolder, durable: false, report });
      stops.push(temporal.stop);
      return temporal.address;
    });
  const provideDatabase = async () => {
    const url = process.env.TEST_DATABASE_URL || (await startDatabase());
    const template = await createTestDatabase(url);
    stops.push(template.drop);
    // Only a database that nobody is connected to can be copied.
    await template.db.destroy();
    return { TEST_DATABASE_URL: url, TEST_DATABASE_TEMPLATE: template.url };
  };
  const provideEngine = async () => ({
    TEST_TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS || (await startEngine()),
  });
  const provideObjectStore = async () => {
    if (!process.env.TEST_OBJECT_STORE_MIN_BYTES) return {};
    const { startS3Server } = await import('./platform/object-store/s3-server.ts');
    const server = await startS3Server();
    stops.push(server.stop);
    const WEIR_TEMPORAL_KEYS = `test:${Buffer.alloc(32, 't').toString('base64')}`;
    return { TEST_OBJECT_STORE: JSON.stringify({ ...server.env, WEIR_TEMPORAL_KEYS }) };
  };
  const started = await Promise.allSettled([provideDatabase(), provideEngine(), provideObjectStore()]);
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  const variables = started.map((result) => (result.status === 'fulfilled' ? result.value : {}));
  return { env: Object.assign({}, process.env, ...variables), stop };
}

// Temporal's development server with the settings for one machine, and without what Weir's embedded server has besides for
// SQLite (dev/temporal/temporal.ts): all indexes, visibility records at once, each commit on disk, no fairness.
import path from 'node:path';
import { type Child, startChild } from '../dev/processes/child.ts';
import { findFreePort } from '../dev/processes/ports.ts';
import { getTemporalBinary } from '../dev/temporal/binary.ts';
import { DYNAMIC_CONFIG } from '../dev/temporal/dynamic-config.ts';
import { provideNamespace } from './full-temporal.ts';

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

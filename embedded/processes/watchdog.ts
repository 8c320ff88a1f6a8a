// A process beside the supervisor: when the supervisor is killed (kill -9), it ends everything that one had started.
import { spawn } from 'node:child_process';
import { log } from '../../observability/log.ts';
import { endRecordedProcesses } from './end-process.ts';

/** Starts the watchdog of this process over `stateFolder`; it ends by itself when nothing is left to do. */
export function startWatchdog(stateFolder: string): void {
  const watchdog = spawn(process.execPath, [import.meta.filename, stateFolder], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // In its own process group, so that a signal to the supervisor's group does not reach it.
    detached: true,
  });
  watchdog.on('error', (error) => log.error({ err: error }, 'The watchdog could not be started.'));
  watchdog.unref();
  watchdog.channel?.unref();
}

if (import.meta.main) {
  const [stateFolder] = process.argv.slice(2);
  if (!stateFolder) throw new Error('The watchdog needs a state folder as its argument.');
  process.once('disconnect', () => void endRecordedProcesses(stateFolder));
}

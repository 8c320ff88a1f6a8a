// Lives beside a supervisor and, should that vanish without a word (kill -9), ends what it had started.
import { spawn } from 'node:child_process';
import { endRecordedProcesses } from './end-process.ts';

/** Starts the watchdog of this process over `stateFolder`; it ends by itself when there is nothing left to do. */
export function startWatchdog(stateFolder: string): void {
  const watchdog = spawn(process.execPath, [import.meta.filename, stateFolder], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Out of the supervisor's group, so that what kills the one does not kill the other.
    detached: true,
  });
  watchdog.on('error', (error) => console.error(`The watchdog could not be started: ${error.message}`));
  watchdog.unref();
  watchdog.channel?.unref();
}

if (import.meta.main) {
  const [stateFolder] = process.argv.slice(2);
  if (!stateFolder) throw new Error('watchdog: which state folder?');
  process.once('disconnect', () => void endRecordedProcesses(stateFolder));
}

// A process beside the supervisor: when the supervisor is killed (kill -9), it ends everything that one had started.
import { spawn } from 'node:child_process';
import { log } from '../../platform/observability/log.ts';
import { endRecordedProcesses } from './end-process.ts';
import { findStart } from './process-lock.ts';

/** Waits for the end of its input, then becomes the program that it was given. */
const WAIT = 'read -r _; exec "$@"';
const RESTART_DELAY_MS = 1_000;

/**
 * Starts the watchdog of this process over `stateFolder`; it ends by itself when nothing is left to do. It waits as a shell,
 * which takes a megabyte, and becomes Node when this process has ended and its input with it. One that is killed is replaced.
 */
export function startWatchdog(stateFolder: string): void {
  const program = [process.execPath, import.meta.filename, stateFolder, String(process.pid)];
  const watchdog = spawn('sh', ['-c', WAIT, 'sh', ...program], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // In its own process group, so that a signal to the supervisor's group does not reach it.
    detached: true,
  });
  watchdog.on('error', (error) => log.error({ err: error }, 'The watchdog could not be started.'));
  watchdog.stdin.on('error', (error) => log.error({ err: error }, 'The input of the watchdog has failed.'));
  watchdog.on('exit', (code, signal) => {
    log.warn({ code, signal }, 'The watchdog has ended; another one is started.');
    setTimeout(() => startWatchdog(stateFolder), RESTART_DELAY_MS).unref();
  });
  watchdog.unref();
}

if (process.argv[1] === import.meta.filename) {
  const [stateFolder, supervisor] = process.argv.slice(2);
  if (!stateFolder) throw new Error('The watchdog needs a state folder as its argument.');
  const owner = findStart(stateFolder);
  // A later start has ended what there was, and has processes of its own.
  if (!owner || owner.pid === Number(supervisor)) await endRecordedProcesses(stateFolder);
}

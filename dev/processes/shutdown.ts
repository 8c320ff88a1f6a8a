// The end of a local start: on a signal, or when a process it needs cannot be kept running.
import { SAME_SIGNAL_MS } from '../../platform/process/end-times.ts';
import type { Progress } from '../progress.ts';
import { endRecordedProcesses, killRecordedProcesses } from './end-process.ts';

const PARENT_CHECK_MS = 1_000;

export type Shutdown = {
  /** Aborted as soon as the shutdown begins. */
  signal: AbortSignal;
  /** Ends every process in order, then this process. */
  end(exitCode: number): Promise<void>;
};

/** Shuts down on SIGINT, SIGTERM, SIGHUP or the death of npm; a second signal forces it. Calls `onEnd` last. */
export function createShutdown(stateFolder: string, progress: Progress, onEnd: () => void): Shutdown {
  const abort = new AbortController();
  let began = 0;

  async function end(exitCode: number): Promise<void> {
    if (began) return;
    began = performance.now();
    abort.abort();
    const task = progress.begin('Stopping');
    task.say('Ctrl-C again stops at once; running work, Temporal and PostgreSQL are ending');
    const ended = await endRecordedProcesses(stateFolder);
    if (ended.length > 0) task.done(`ended ${ended.join(', ')}`);
    task.drop();
    onEnd();
    process.exit(exitCode);
  }

  function onSignal(): void {
    if (!began) return void end(0);
    if (performance.now() - began < SAME_SIGNAL_MS) return;
    killRecordedProcesses(stateFolder);
    progress.line('Stopped by force. Accepted runs are kept and continue at the next start.');
    onEnd();
    process.exit(130);
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  if (process.env.npm_lifecycle_event) {
    const npm = process.ppid;
    setInterval(() => process.ppid !== npm && void end(0), PARENT_CHECK_MS).unref();
  }
  return { signal: abort.signal, end };
}

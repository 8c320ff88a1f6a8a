// The end of a local start: on a signal, or when something it needs cannot be kept running.

import type { Progress } from '../report.ts';
import { endRecordedProcesses, killRecordedProcesses } from './end-process.ts';

/** npm passes on the Ctrl-C that the terminal has sent to everyone already: the second within this time is the first. */
const SAME_SIGNAL_MS = 1_000;
const PARENT_CHECK_MS = 1_000;

export type Shutdown = {
  /** Aborted as soon as the end has begun. */
  signal: AbortSignal;
  /** Ends every process in order, then this one. */
  end(exitCode: number): Promise<void>;
};

/** Ends on SIGINT, SIGTERM, SIGHUP and when npm vanishes; a second signal forces it. `onEnd` comes last. */
export function createShutdown(stateFolder: string, progress: Progress, onEnd: () => void): Shutdown {
  const abort = new AbortController();
  let began = 0;

  async function end(exitCode: number): Promise<void> {
    if (began) return;
    began = Date.now();
    abort.abort();
    const task = progress.begin('Stopping');
    task.say('the service first, then Temporal and PostgreSQL');
    const ended = await endRecordedProcesses(stateFolder);
    if (ended.length > 0) task.done(`ended ${ended.join(', ')}`);
    task.drop();
    onEnd();
    process.exit(exitCode);
  }

  function onSignal(): void {
    if (!began) return void end(0);
    if (Date.now() - began < SAME_SIGNAL_MS) return;
    killRecordedProcesses(stateFolder);
    progress.line('Stopped by force. What was accepted is kept and goes on at the next start.');
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

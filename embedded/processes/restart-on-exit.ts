// Starts a process again when it ends on its own.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../report.ts';
import type { Child } from './child.ts';

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 5_000;
const WINDOW_MS = 10 * 60_000;

export type KeepRunningOptions = {
  name: string;
  child: Child;
  /** Starts it once more, at the same address. */
  start(): Promise<Child>;
  /** Restarts within ten minutes before giving up. */
  maxRestarts: number;
  report: Report;
  /** Ends the watch. */
  signal: AbortSignal;
};

/** Settles when the watch was ended (undefined) or given up (a message with the end of the log). */
export async function keepRunning(options: KeepRunningOptions): Promise<string | undefined> {
  const { name, start, report, signal } = options;
  let child = options.child;
  let what = await child.exited;
  let restarts: number[] = [];
  while (!signal.aborted) {
    restarts = restarts.filter((time) => Date.now() - time < WINDOW_MS);
    if (restarts.length >= options.maxRestarts) {
      return `${name} ${what} and does not come back. The end of ${child.logFile}:\n${child.logTail()}`;
    }
    const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** restarts.length);
    report(`${name} ${what}; starting it again in ${delayMs / 1000} s (log: ${child.logFile})`);
    restarts.push(Date.now());
    try {
      await sleep(delayMs, undefined, { signal });
      child = await start();
      report(`${name} is back`);
      what = await child.exited;
    } catch (error) {
      what = `did not start: ${error instanceof Error ? error.message : error}`;
    }
  }
  return undefined;
}

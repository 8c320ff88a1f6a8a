import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../progress.ts';
import type { Child } from './child.ts';

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 5_000;
const WINDOW_MS = 10 * 60_000;

type RestartOptions = {
  name: string;
  child: Child;
  /** Starts the process again, at the same address. */
  start(): Promise<Child>;
  /** How many restarts within ten minutes are made before giving up. */
  maxRestarts: number;
  report: Report;
  /** Ends the watch. */
  signal: AbortSignal;
};

/**
 * Starts a process again whenever it ends on its own. Resolves with undefined after `signal`, or with a message and the
 * end of the log when it gives up.
 */
export async function restartOnExit(options: RestartOptions): Promise<string | undefined> {
  const { name, start, report, signal } = options;
  let child = options.child;
  let what = await child.exited;
  /** Why the last start failed, with the end of the log. */
  let failed: string | undefined;
  let restarts: number[] = [];
  while (!signal.aborted) {
    restarts = restarts.filter((time) => performance.now() - time < WINDOW_MS);
    if (restarts.length >= options.maxRestarts) {
      return failed === undefined
        ? `${name} ${what} and could not be restarted. ${child.describeLog()}`
        : `${name} could not be restarted: ${failed}`;
    }
    const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** restarts.length);
    report(
      failed === undefined
        ? `${name} ${what}; starting it again in ${delayMs / 1000} s (log: ${child.logFile})`
        : `${name} is started again in ${delayMs / 1000} s, as it did not start: ${failed}`,
    );
    restarts.push(performance.now());
    try {
      await sleep(delayMs, undefined, { signal });
      child = await start();
      report(`${name} is back`);
      failed = undefined;
      what = await child.exited;
    } catch (error) {
      failed = error instanceof Error ? error.message : String(error);
    }
  }
  return undefined;
}

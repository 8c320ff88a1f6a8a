// How a command ends when it is interrupted: by Ctrl-C (SIGINT) or SIGTERM.
import { setTimeout as sleep } from 'node:timers/promises';
import { note } from './print.ts';

/** Exit codes by signal: 128 plus its number, as shells have it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 };
/** A request to the service, such as the cancellation of a test run, may take this long. */
const ENDING_MAX_MS = 5_000;

let ending: (() => unknown) | undefined;
let ends = false;

/** Sets what an interrupted command does before it ends, in place of what was set before; undefined: nothing. */
export function onInterruption(work: (() => unknown) | undefined): void {
  ending = work;
}

/**
 * Ends this process when it gets a signal. Further signals change nothing: with Ctrl-C, weir.js and the terminal both send
 * one. Files and programs of the command end with the `exit` event of the process.
 */
export function endOnSignals(): void {
  for (const [signal, code] of Object.entries(EXIT_CODES)) process.on(signal, () => void end(code));
}

async function end(code: number): Promise<void> {
  if (ends) return;
  ends = true;
  try {
    await Promise.race([ending?.(), sleep(ENDING_MAX_MS)]);
  } catch (error) {
    note((error as Error).message);
  } finally {
    process.exit(code);
  }
}

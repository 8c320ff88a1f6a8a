// How a process of the service ends: on a signal, after an uncaught error, or when it cannot start.
import { log } from '../observability/log.ts';
import { SAME_SIGNAL_MS, SERVE_END_MAX_SECONDS } from './end-times.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Ends the process at once on SIGTERM and SIGINT, until `endOnSignal` takes over: nothing has to be drained yet. The first
 * process of a container ignores signals that it does not handle.
 */
export function exitOnSignal(): void {
  for (const signal of SIGNALS) process.on(signal, exit);
}

/**
 * Ends the process on SIGTERM and SIGINT: calls `stop`, which may take up to `seconds` to let running work finish. A
 * second SIGTERM changes nothing, because programs repeat it; a second Ctrl-C comes from a person and ends the process
 * at once.
 */
export function endOnSignal(stop: () => Promise<unknown>, seconds: number): void {
  let began: number | undefined;
  for (const signal of SIGNALS)
    process
      .on(signal, () => {
        const now = performance.now();
        if (began === undefined) {
          began = now;
          const again = signal === 'SIGINT' ? ' Ctrl-C again stops at once.' : '';
          log.info(`Stopping: work under way has up to ${seconds} s to end.${again}`);
          setTimeout(endAnyway, seconds * 1_000).unref();
          // A rejection ends the process, like every uncaught error.
          void stop();
        } else if (signal === 'SIGINT' && now - began > SAME_SIGNAL_MS) process.exit(130);
      })
      .off(signal, exit);
}

function exit(): void {
  process.exit(0);
}

function endAnyway(): void {
  log.error('Not everything has ended in time. Accepted runs are kept, and another process continues them.');
  process.exit(1);
}

/**
 * Ends the process in order after an uncaught error: logs it and calls `stop`, which may take up to
 * SERVE_END_MAX_SECONDS to let running work finish. The exit code is 1, so that a supervisor restarts the process.
 */
export function endOnFatal(stop: () => Promise<unknown>): void {
  let ending = false;
  // Node also reports unhandled rejections here.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'An uncaught error ends this process.');
    process.exitCode = 1;
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), SERVE_END_MAX_SECONDS * 1_000).unref();
    stop().catch((stopError: unknown) => {
      log.fatal({ err: stopError }, 'The process could not be ended in order.');
      process.exit(1);
    });
  });
}

/** Returns the result of `start`. When it fails, prints the message without a stack and exits with 1. */
export async function exitOnFailure<T>(start: () => T | Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const cause = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
    log.fatal(cause instanceof Error ? cause.message : String(cause));
    process.exit(1);
  }
}

// How a process of the service ends: on a signal, after an uncaught error, or when it cannot start.
import { log } from '../observability/log.ts';
import { SAME_SIGNAL_MS } from './end-times.ts';

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

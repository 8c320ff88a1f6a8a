import { log } from '../observability/log.ts';
import { SERVE_END_MAX_SECONDS } from './end-times.ts';

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

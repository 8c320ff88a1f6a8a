/** Longer than `npm run serve` takes to drain the API and then the worker. */
const END_MAX_MS = 70_000;

/**
 * Ends the process in order after an uncaught error: logs it and calls `stop`, which may take up to 70 s to let running
 * work finish. The exit code is 1, so that a supervisor restarts the process.
 */
export function endOnFatal(stop: () => Promise<unknown>): void {
  let ending = false;
  // Node also reports unhandled rejections here.
  process.on('uncaughtException', (error) => {
    console.error('An uncaught error ends this process:', error);
    process.exitCode = 1;
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), END_MAX_MS).unref();
    stop().catch((stopError: unknown) => {
      console.error('The process could not be ended in order:', stopError);
      process.exit(1);
    });
  });
}

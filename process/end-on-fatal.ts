/** Longer than the drain of `npm run serve`, API then worker, takes. */
const END_MAX_MS = 70_000;

/**
 * Sees to it that an error which nothing caught ends the process properly: it is logged, `stop` lets what is under way
 * finish, for at most 70 s, and the exit code is 1, at which a supervisor starts the process again.
 */
export function endOnFatal(stop: () => Promise<unknown>): void {
  let ending = false;
  // Rejections that nothing handles come here too.
  process.on('uncaughtException', (error) => {
    console.error('An error that nothing caught ends this process:', error);
    process.exitCode = 1;
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), END_MAX_MS).unref();
    stop().catch((stopError: unknown) => {
      console.error('It could not be ended properly:', stopError);
      process.exit(1);
    });
  });
}

// Loaded by mocha. Ends a process in which a failed set-up left servers open: CI would wait for it for ever.
const GRACE_MS = 20_000;

export function mochaGlobalTeardown(): void {
  setTimeout(() => {
    console.error(`Something is still open ${GRACE_MS / 1_000} s after the last test: ending it.`);
    process.exit();
  }, GRACE_MS).unref();
}

// Loaded by mocha. A set-up that failed may leave servers open, which would keep the process, and CI, waiting for ever.
const GRACE_MS = 20_000;

export function mochaGlobalTeardown(): void {
  setTimeout(() => {
    console.error(`Something is still open ${GRACE_MS / 1_000} s after the last test: ending it.`);
    process.exit();
  }, GRACE_MS).unref();
}

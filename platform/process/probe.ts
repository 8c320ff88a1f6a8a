// main of `node platform/process/probe.ts URL`, for health checks inside containers that have no HTTP client: exits with 0 when the
// URL is answered with a status below 400, with 1 otherwise, and says why.
const TIMEOUT_MS = 4_000;

try {
  const response = await fetch(process.argv[2] ?? '', { signal: AbortSignal.timeout(TIMEOUT_MS) });
  process.stderr.write(response.ok ? '' : `${response.status} ${await response.text()}\n`);
  process.exit(response.ok ? 0 : 1);
} catch (error) {
  const { message, cause } = error as Error;
  process.stderr.write(`${cause instanceof Error ? cause.message : message}\n`);
  process.exit(1);
}

// The maximum times for parts of a process to end. Each time exceeds the times that it names. An operator's supervisor waits
// longer than the last (docs/operating/shutdown-and-health.md).

/** For blocks under way. Longer than a model usually takes, so that a deploy does not pay for the same answer twice. */
export const BLOCKS_GRACE_MS = 30_000;
/** For attempts of deliveries under way. Longer than one can take. */
export const DELIVERIES_GRACE_MS = 35_000;
/** For the other parts of a worker when one has failed. */
export const FAILED_WORKER_END_MAX_MS = Math.max(BLOCKS_GRACE_MS, DELIVERIES_GRACE_MS) + 5_000;
/** For a process with a worker, which closes its connections at last. */
export const WORKER_END_MAX_SECONDS = FAILED_WORKER_END_MAX_MS / 1_000 + 5;
/** For requests under way. */
export const REQUESTS_GRACE_MS = 30_000;
/** For a process with an API. */
export const API_END_MAX_SECONDS = REQUESTS_GRACE_MS / 1_000 + 10;
/** For `npm run serve`, and so for any process: it drains the API, then the worker. */
export const SERVE_END_MAX_SECONDS = REQUESTS_GRACE_MS / 1_000 + WORKER_END_MAX_SECONDS;

/** One Ctrl-C arrives twice, from the terminal and from npm: a second signal within this time is the same one. */
export const SAME_SIGNAL_MS = 1_000;

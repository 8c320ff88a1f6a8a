// The service of `npm start`: API and worker in one process, `api/serve-with-worker.ts`.

import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVE_END_MAX_SECONDS } from '../platform/process/end-times.ts';
import { http } from './node-http.ts';
import { type Child, startChild } from './processes/child.ts';

type Asked = { headers?: Record<string, string>; body?: string; timeoutMs: number };

const ROOT = path.dirname(import.meta.dirname);
const NODE_FLAGS = [
  // A small young generation saves memory, and costs no measurable time (bench/results/2026-11-28-memory.txt).
  '--max-semi-space-size=4',
  // Lets the heap grow to 1.5 times its live size between collections. V8's default is up to four times.
  '--heap-growing-percent=50',
  // V8's default is four helper threads. On fewer processors they delay the main thread.
  `--v8-pool-size=${Math.min(4, availableParallelism())}`,
];
/**
 * Settings of the C library, which limit the free memory that it keeps. Its defaults keep free memory for each of dozens of
 * threads, and that of large freed blocks.
 */
const MALLOC = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
/** Short, so that a slow model call goes on soon after a forced stop. Few calls are in flight here. */
const HEARTBEAT_TIMEOUT_SECONDS = '15';
const READY_TIMEOUT_MS = 120_000;
/** Time for the service to stop. Afterwards it is killed. */
const STOP_TIMEOUT_MS = (SERVE_END_MAX_SECONDS + 5) * 1_000;

type ServiceOptions = { stateFolder: string; env: NodeJS.ProcessEnv; baseUrl: string };

/** Starts the service and waits until `/readyz` is 200. Otherwise throws an Error with the end of the log. */
export async function startService({ stateFolder, env, baseUrl }: ServiceOptions): Promise<Child> {
  const listeningFile = path.join(stateFolder, 'service-listens');
  // The file of an earlier service may have the same process id.
  rmSync(listeningFile, { force: true });
  const child = startChild({
    stateFolder,
    name: 'service',
    order: 1,
    command: process.execPath,
    args: [
      ...NODE_FLAGS,
      ...['--import', path.join(ROOT, 'worker/disable-workflow-watchdog.ts')],
      path.join(ROOT, 'api/serve-with-worker.ts'),
    ],
    env: {
      ...MALLOC,
      WEIR_HEARTBEAT_TIMEOUT: HEARTBEAT_TIMEOUT_SECONDS,
      ...env,
      RESTART_COMPILED: '1',
      LISTENING_FILE: listeningFile,
    },
    stopSignal: 'SIGTERM',
    stopTimeoutMs: STOP_TIMEOUT_MS,
  });
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (!listens(child.pid, listeningFile) || !(await isReady(baseUrl))) {
    if (child.hasExited() || performance.now() > deadline) {
      const problem = child.hasExited()
        ? await child.exited
        : `was not ready after ${READY_TIMEOUT_MS / 1000} s`;
      const end = child.describeLog();
      await child.stop();
      throw new Error(`The service ${problem}. ${end}`);
    }
    await sleep(100);
  }
  return child;
}

/** Whether `file` has the process id of the service, which writes it once it listens. Another program may use the port before. */
function listens(pid: number, file: string): boolean {
  try {
    return Number(readFileSync(file, 'utf8')) === pid;
  } catch {
    return false;
  }
}

async function isReady(baseUrl: string): Promise<boolean> {
  try {
    return (await askService(`${baseUrl}/readyz`, { timeoutMs: 5_000 })).status === 200;
  } catch {
    return false;
  }
}

// Requests from `npm start` to its service. `fetch` would use 6 MB of memory while `npm start` runs.

/** Sends a GET, or a POST if there is a body. Throws an Error without a complete answer within `timeoutMs`. */
export async function askService(
  url: string,
  { headers = {}, body, timeoutMs }: Asked,
): Promise<{ status: number | undefined; text: string }> {
  const method = body === undefined ? 'GET' : 'POST';
  const signal = AbortSignal.timeout(timeoutMs);
  const sent = http.request(url, { method, headers, signal });
  // Without a listener, the error would end the process. `once` and `text` reject with it.
  sent.on('error', () => undefined);
  sent.end(body);
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode, text: await text(response) };
  } catch (error) {
    throw signal.aborted ? new Error(`no whole answer within ${timeoutMs / 1_000} s`) : error;
  }
}

// The service as a process of a local start: `api/serve-with-worker.ts`, API and worker in one.

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
  // A small young generation, which costs no time that can be measured (bench/results/2026-11-28-memory.txt).
  '--max-semi-space-size=4',
  // Collects the heap at 1.5 times the live size. The default of V8 is up to four times.
  '--heap-growing-percent=50',
  // V8 has four helpers, which on fewer processors keep the main thread waiting for one.
  `--v8-pool-size=${Math.min(4, availableParallelism())}`,
];
/**
 * Settings of the C library. By itself it keeps memory apart for each thread, of which the service has dozens, and what large
 * blocks have left; neither would be given back.
 */
const MALLOC = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
const READY_TIMEOUT_MS = 120_000;
/** The service ends within this time; later it is killed. */
const STOP_TIMEOUT_MS = (SERVE_END_MAX_SECONDS + 5) * 1_000;

type ServiceOptions = { stateFolder: string; env: NodeJS.ProcessEnv; baseUrl: string };

/** Starts the service and waits until it reports that it is ready. Throws an Error with the end of its log. */
export async function startService({ stateFolder, env, baseUrl }: ServiceOptions): Promise<Child> {
  const listeningFile = path.join(stateFolder, 'service-listens');
  // That of an earlier service may have the same number.
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
    env: { ...MALLOC, ...env, RESTART_COMPILED: '1', LISTENING_FILE: listeningFile },
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

/** Whether the service listens: until then, another program may answer at its port. Its file has the number of its process. */
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

// Requests of a start to its own service. `fetch` would do, but takes 6 MB of memory for as long as the start runs.

/** Sends a GET, or a POST where there is a body. Throws an Error without a complete answer within `timeoutMs`. */
export async function askService(
  url: string,
  { headers = {}, body, timeoutMs }: Asked,
): Promise<{ status: number | undefined; text: string }> {
  const method = body === undefined ? 'GET' : 'POST';
  const signal = AbortSignal.timeout(timeoutMs);
  const sent = http.request(url, { method, headers, signal });
  // An answer that is cut off makes `text` fail.
  sent.on('error', () => undefined);
  sent.end(body);
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode, text: await text(response) };
  } catch (error) {
    throw signal.aborted ? new Error(`no whole answer within ${timeoutMs / 1_000} s`) : error;
  }
}

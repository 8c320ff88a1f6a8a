import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const STOP_TIMEOUT_MS = 10_000;

/** A child process that ends with this one. */
type Fork = {
  pid: number;
  send(message: object): void;
  /** Returns the next message; rejects when the process ends instead. */
  receive(): Promise<unknown>;
  hasExited(): boolean;
  stop(): Promise<void>;
};

/** A request, POST unless `method` says otherwise, and a text that its answer must contain. */
export type LoadTarget = {
  method?: 'GET';
  url: string;
  headers?: Record<string, string>;
  body: string;
  expect: string;
};
/**
 * A load that ends with whichever of its two limits comes first. Each of `concurrency` callers sends its next request after
 * the answer to the last one; with `everyMs`, a request is sent in each interval, whatever became of earlier ones.
 */
export type LoadJob = LoadTarget & {
  concurrency: number;
  maxRequests: number;
  maxMs: number;
  everyMs?: number;
};
/**
 * Latencies in milliseconds, from sending the request to the end of the answer. Requests answered 429 or 503 with a
 * Retry-After are sent again after that time, and `refused` counts these answers.
 */
export type LoadResult = {
  count: number;
  refused: number;
  perSecond: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
};

export type LoadGenerator = {
  pid: number;
  /** Rejects at the first wrong answer. */
  run(job: LoadJob): Promise<LoadResult>;
  stop(): Promise<void>;
};

/** Starts the load generator's process, which does one job at a time. */
export function startLoadGenerator(): LoadGenerator {
  const { pid, send, receive, stop } = startFork(new URL('./generate-load.ts', import.meta.url));
  return {
    pid,
    async run(job) {
      send(job);
      const answer = (await receive()) as LoadResult | { error: string };
      if ('error' in answer) throw new Error(answer.error);
      return answer;
    },
    stop,
  };
}

/** Runs a program as a child process. */
export function startFork(program: URL, env: NodeJS.ProcessEnv = {}): Fork {
  const child = fork(program, { env: { ...process.env, ...env } });
  const exited = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    send: (message) => void child.send(message),
    receive: () =>
      Promise.race([
        once(child, 'message').then(([message]) => message),
        exited.then(([code, signal]) => {
          throw new Error(`${path.basename(program.pathname)} ended early (${signal ?? `code ${code}`})`);
        }),
      ]),
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      if (child.connected) child.disconnect();
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(force);
    },
  };
}

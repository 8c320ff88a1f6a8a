import { startFork } from './fork.ts';

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

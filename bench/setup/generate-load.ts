// main: the load generator, the same for every candidate, in its own process
import { Agent, type RequestOptions, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadJob, LoadResult } from './load.ts';
import { quantile } from './statistics.ts';

const ANSWER_TIMEOUT_MS = 180_000;

process.on('message', async (job: LoadJob) => {
  const answer = await generate(job).catch((error: unknown) => ({ error: String(error) }));
  process.send?.(answer);
});
process.once('disconnect', () => process.exit());

async function generate(job: LoadJob): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port, pathname, search } = new URL(job.url);
  const body = Buffer.from(job.body);
  const options: RequestOptions = {
    ...{ agent, hostname, port, path: pathname + search, timeout: ANSWER_TIMEOUT_MS },
    method: job.method ?? 'POST',
    headers: { 'content-type': 'application/json', 'content-length': body.length, ...job.headers },
  };
  const latencies: number[] = [];
  let sent = 0;
  let refused = 0;
  const began = performance.now();
  const goesOn = () => sent < job.maxRequests && performance.now() - began < job.maxMs;
  async function call(): Promise<void> {
    sent += 1;
    const before = performance.now();
    for (;;) {
      const retryAfterMs = await post(options, body, job.expect);
      if (retryAfterMs === undefined) break;
      refused += 1;
      await sleep(retryAfterMs);
    }
    latencies.push(performance.now() - before);
  }
  async function callAgain(): Promise<void> {
    while (goesOn()) await call();
  }
  async function callRegularly(everyMs: number): Promise<void> {
    const calls: Promise<void>[] = [];
    for (; goesOn(); await sleep(everyMs)) {
      const made = call();
      // A failure is thrown below, when all calls are there.
      made.catch(() => undefined);
      calls.push(made);
    }
    await Promise.all(calls);
  }
  try {
    if (job.everyMs) await callRegularly(job.everyMs);
    else await Promise.all(Array.from({ length: job.concurrency }, callAgain));
  } finally {
    agent.destroy();
  }
  return {
    count: latencies.length,
    refused,
    // Measures up to the last answer: a cut at the deadline would count open requests against slow candidates.
    perSecond: (latencies.length * 1000) / (performance.now() - began),
    p50: quantile(latencies, 0.5),
    p95: quantile(latencies, 0.95),
    p99: quantile(latencies, 0.99),
    max: quantile(latencies, 1),
  };
}

/** Returns after how many milliseconds to ask again, if it was refused. Rejects unless a success contains `expect`. */
function post(options: RequestOptions, body: Buffer, expect: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sending = request(options, (response) => {
      const { statusCode = 500, headers } = response;
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          text += chunk;
        })
        .on('error', reject)
        .on('end', () => {
          if (statusCode < 300 && text.includes(expect)) return resolve(undefined);
          const retryAfter = headers['retry-after'];
          if ((statusCode === 429 || statusCode === 503) && retryAfter)
            return resolve(Number(retryAfter) * 1_000);
          reject(new Error(`${options.path} answered ${statusCode}: ${text.slice(0, 500)}`));
        });
    });
    sending.on('timeout', () =>
      sending.destroy(new Error(`${options.path}: no answer within ${ANSWER_TIMEOUT_MS / 1000} s`)),
    );
    sending.on('error', reject).end(body);
  });
}

// main: the load generator, the same for every candidate, in its own process
import { Agent, type RequestOptions, request } from 'node:http';
import type { LoadJob, LoadResult } from './load.ts';
import { quantile } from './statistics.ts';

const ANSWER_TIMEOUT_MS = 120_000;

process.on('message', async (job: LoadJob) => {
  const answer = await generate(job).catch((error: unknown) => ({ error: String(error) }));
  process.send?.(answer);
});
process.once('disconnect', () => process.exit());

/** Generates a closed loop: each of `concurrency` callers sends its next request after the answer to the last one. */
async function generate(job: LoadJob): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: job.concurrency });
  const { hostname, port, pathname } = new URL(job.url);
  const body = Buffer.from(job.body);
  const options: RequestOptions = {
    ...{ agent, hostname, port, path: pathname, method: 'POST', timeout: ANSWER_TIMEOUT_MS },
    headers: { 'content-type': 'application/json', 'content-length': body.length, ...job.headers },
  };
  const latencies: number[] = [];
  let sent = 0;
  const began = performance.now();
  async function call(): Promise<void> {
    while (sent < job.maxRequests && performance.now() - began < job.maxMs) {
      sent += 1;
      const before = performance.now();
      await post(options, body, job.expect);
      latencies.push(performance.now() - before);
    }
  }
  try {
    await Promise.all(Array.from({ length: job.concurrency }, call));
  } finally {
    agent.destroy();
  }
  return {
    count: latencies.length,
    // Measures up to the last answer: a cut at the deadline would count open requests against slow candidates.
    perSecond: (latencies.length * 1000) / (performance.now() - began),
    p50: quantile(latencies, 0.5),
    p95: quantile(latencies, 0.95),
    p99: quantile(latencies, 0.99),
  };
}

/** Rejects unless the answer is a success that contains `expect`. */
function post(options: RequestOptions, body: Buffer, expect: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sending = request(options, (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          text += chunk;
        })
        .on('error', reject)
        .on('end', () => {
          if ((response.statusCode ?? 500) < 300 && text.includes(expect)) return resolve();
          reject(new Error(`${options.path} answered ${response.statusCode}: ${text.slice(0, 500)}`));
        });
    });
    sending.on('timeout', () =>
      sending.destroy(new Error(`${options.path}: no answer within ${ANSWER_TIMEOUT_MS / 1000} s`)),
    );
    sending.on('error', reject).end(body);
  });
}

// main: an innocent organization, which calls each of its flows once a second without waiting for earlier calls
import { setTimeout as sleep } from 'node:timers/promises';
import { startWebhookReceiver, testAuthority } from '../../test/fakes/webhook-receiver.ts';
import type { InnocentCall, InnocentJob, InnocentResult } from '../neighbours/innocent.ts';

/** A call without an answer after this time has failed. */
const ANSWER_TIMEOUT_MS = 60_000;

const receiver = await startWebhookReceiver();
process.on('message', async (job: InnocentJob) => void process.send?.(await callAll(job)));
process.once('disconnect', () => process.exit());
process.send?.({ host: receiver.host, address: `127.0.0.1:${receiver.port}`, ca: testAuthority().pem });

async function callAll({ calls, seconds }: InnocentJob): Promise<Record<string, InnocentResult>> {
  const kinds = Object.entries(calls);
  const results = await Promise.all(
    kinds.map(async ([kind, call], index) => {
      // Spread over the second: calls at the same moment would wait for each other.
      await sleep((index * 1_000) / kinds.length);
      return [kind, await callEachSecond(call, seconds)] as const;
    }),
  );
  return Object.fromEntries(results);
}

async function callEachSecond(call: InnocentCall, seconds: number): Promise<InnocentResult> {
  const result: InnocentResult = { latencies: [], failures: [] };
  const underWay: Promise<void>[] = [];
  for (let second = 0; second < seconds; second += 1) {
    const began = performance.now();
    underWay.push(
      callOnce(call).then(
        () => void result.latencies.push(performance.now() - began),
        (error: unknown) => void result.failures.push(String(error)),
      ),
    );
    await sleep(1_000);
  }
  await Promise.all(underWay);
  return result;
}

/** Resolves when the answer, or the webhook that the call asks for, has arrived. */
async function callOnce({ url, headers, body, webhook }: InnocentCall): Promise<void> {
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal,
  });
  const text = await response.text();
  const { status, executionId } = JSON.parse(text) as { status?: string; executionId?: string };
  if (status !== (webhook ? 'started' : 'completed'))
    throw new Error(`${response.status}: ${text.slice(0, 300)}`);
  if (!webhook) return;
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('its webhook has not arrived')));
  });
  await Promise.race([receiver.arrivalsOf(executionId ?? ''), late]);
}

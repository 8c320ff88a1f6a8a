import { code, llm, passthrough } from '../../test/blocks.ts';
import { startFork } from '../setup/load.ts';
import type { BenchTenant } from '../setup/service.ts';

/** A POST to make once a second; with `webhook`, the time until the run's webhook arrives is measured. */
export type InnocentCall = { url: string; headers: Record<string, string>; body: string; webhook: boolean };
export type InnocentJob = { calls: Record<string, InnocentCall>; seconds: number };
/** Milliseconds of each successful call, and the errors of the others. */
export type InnocentResult = { latencies: number[]; failures: string[] };

/** The process of an innocent organization, with its webhook receiver. */
export type Innocent = {
  receiver: { host: string; address: string; ca: string };
  /** Publishes the organization's flows. */
  settle(tenant: BenchTenant): Promise<void>;
  /** Makes calls for so many seconds; returns the results by kind of flow. */
  call(seconds: number): Promise<Record<string, InnocentResult>>;
  stop(): Promise<void>;
};

export async function startInnocent(): Promise<Innocent> {
  const { send, receive, stop } = startFork(new URL('../candidates/innocent.ts', import.meta.url));
  const receiver = (await receive()) as Innocent['receiver'];
  const calls: InnocentJob['calls'] = {};
  return {
    receiver,
    stop,
    async settle({ key, createFlow }) {
      const headers = { authorization: `Bearer ${key}` };
      const flows = {
        passthrough: [passthrough('forward')],
        code: [code('shout', 'return input.toUpperCase();')],
        model: [llm('answer', 'Answer to {{message}}', 'demo/slow-300')],
      };
      for (const [kind, steps] of Object.entries(flows)) {
        const url = `${await createFlow(steps)}/execute`;
        calls[kind] = { url, headers, body: JSON.stringify({ message: 'salmon' }), webhook: false };
      }
      calls.webhook = {
        url: `${await createFlow(flows.passthrough)}/jobs`,
        headers,
        body: JSON.stringify({ message: 'salmon', callbackUrl: `https://${receiver.host}/` }),
        webhook: true,
      };
    },
    async call(seconds) {
      send({ calls, seconds } satisfies InnocentJob);
      return (await receive()) as Record<string, InnocentResult>;
    },
  };
}

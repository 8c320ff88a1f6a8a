import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { code, llm, passthrough } from '../test/blocks.ts';
import type { Backends } from './backends.ts';
import { startFork } from './fork.ts';
import type { LoadTarget } from './load.ts';
import { startBenchService } from './service.ts';

const CREDITS = 1_000_000;

/** The code block does the same as the hand-written candidates. */
const BLOCKS = [passthrough('forward'), code('shout', 'return input.toUpperCase();'), passthrough('pass-on')];
/** The model answers after 300 ms. */
const MODEL_CALLS = ['first', 'second', 'third'].map((stepId) =>
  llm(stepId, 'Answer to {{previous_output}}', 'demo/slow-300'),
);

export type Weir = {
  pid: number;
  modelServerPid: number;
  /** A flow of three blocks, and a flow of three model calls. */
  execute: LoadTarget;
  executeModels: LoadTarget;
  /** Runs of the first flow that nobody waits for, and how many have completed. */
  jobs: LoadTarget;
  countCompletedJobs(): Promise<number>;
  /** The same with a webhook, and how many of those have been delivered. */
  callbacks: LoadTarget;
  countDelivered(): Promise<number>;
};

/** Starts the service as `npm start` runs it, with an API key, flows and its own model server. */
export async function startWeir(
  backends: Backends,
  message: string,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Weir> {
  const models = startFork('candidates/model-server.ts');
  onStop(models.stop);
  const { url: modelUrl } = (await models.receive()) as { url: string };
  const receiver = startFork('candidates/webhook-receiver.ts');
  onStop(receiver.stop);
  const { host, address, ca } = (await receiver.receive()) as { host: string; address: string; ca: string };
  const caFile = path.join(backends.stateFolder, 'receiver-ca.pem');
  writeFileSync(caFile, ca);
  const env = {
    DEMO_BASE_URL: modelUrl,
    WEIR_TEST_DIAL_MAP: JSON.stringify({ [host]: address }),
    WEIR_WEBHOOK_CA_FILE: caFile,
    // High limits: requests are counted and never refused.
    WEIR_RATE_LIMIT_PER_KEY: '1000000',
    WEIR_RATE_LIMIT_PER_ORGANIZATION: '1000000',
  };
  const { db, child, createTenant } = await startBenchService(backends, env, onStop);
  const { key, createFlow } = await createTenant('bench', CREDITS);
  const blocks = await createFlow(BLOCKS);
  const request = { headers: { authorization: `Bearer ${key}` }, body: JSON.stringify({ message }) };
  return {
    pid: child().pid,
    modelServerPid: models.pid,
    execute: { ...request, url: `${blocks}/execute`, expect: `"result":"${message.toUpperCase()}"` },
    executeModels: {
      ...request,
      url: `${await createFlow(MODEL_CALLS)}/execute`,
      expect: '"status":"completed"',
    },
    jobs: { ...request, url: `${blocks}/jobs`, expect: '"status":"started"' },
    callbacks: {
      ...request,
      body: JSON.stringify({ message, callbackUrl: `https://${host}/` }),
      url: `${blocks}/jobs`,
      expect: '"status":"started"',
    },
    async countDelivered() {
      const { delivered } = await db
        .selectFrom('webhook_delivery')
        .select(({ fn }) => fn.countAll<number>().as('delivered'))
        .where('status', '=', 'succeeded')
        .executeTakeFirstOrThrow();
      return delivered;
    },
    async countCompletedJobs() {
      const { completed } = await db
        .selectFrom('run')
        .select(({ fn }) => fn.countAll<number>().as('completed'))
        .where('mode', '=', 'jobs')
        .where('status', '=', 'completed')
        .executeTakeFirstOrThrow();
      return completed;
    },
  };
}

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Db } from '../../db/connect.ts';
import type { Step } from '../../flow/definition.ts';
import { MESSAGE } from '../compare/candidates.ts';
import type { Backends } from './backends.ts';
import { type LoadTarget, startFork } from './load.ts';
import { startBenchService } from './service.ts';

const CREDITS = 1_000_000;

/** The model server, which the hand-written candidates ask too, and a webhook receiver. */
export type Outside = { env: Record<string, string>; modelServer: number; callbackUrl: string };

/** An organization that calls flows of its own. */
type Caller = {
  /** Publishes a flow; returns the request that runs it, whose answer contains `expect`. */
  target(
    flow: Step[],
    expect: string,
    by?: 'execute' | 'jobs' | 'step',
    callbackUrl?: string,
  ): Promise<LoadTarget>;
};

export type Weir = {
  pids: number[];
  db: Db;
  /** Makes an organization. */
  createCaller(): Promise<Caller>;
};

export async function startOutside(
  backends: Backends,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Outside> {
  const models = startFork(new URL('../candidates/model-server.ts', import.meta.url));
  onStop(models.stop);
  const { url: modelUrl } = (await models.receive()) as { url: string };
  const receiver = startFork(new URL('../candidates/webhook-receiver.ts', import.meta.url));
  onStop(receiver.stop);
  const { host, address, ca } = (await receiver.receive()) as { host: string; address: string; ca: string };
  const caFile = path.join(backends.stateFolder, 'receiver-ca.pem');
  writeFileSync(caFile, ca);
  return {
    env: {
      DEMO_BASE_URL: modelUrl,
      WEIR_TEST_DIAL_MAP: JSON.stringify({ [host]: address }),
      WEIR_WEBHOOK_CA_FILE: caFile,
    },
    modelServer: models.pid,
    callbackUrl: `https://${host}/`,
  };
}

/** Starts the service: in one process as `npm start` runs it, or as an API process and so many workers. */
export async function startWeir(
  backends: Backends,
  outside: Outside,
  workers: number,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Weir> {
  const env = {
    ...outside.env,
    // High limits: requests are counted and never refused.
    WEIR_RATE_LIMIT_PER_KEY: '1000000',
    WEIR_RATE_LIMIT_PER_ORGANIZATION: '1000000',
    WEIR_MODEL_CONCURRENCY: '1000',
    WEIR_OPEN_REQUESTS_MAX: '0',
    WEIR_RUNS_UNDER_WAY_MAX: '0',
  };
  const { db, pids, createTenant } = await startBenchService(backends, env, onStop, workers);
  let callers = 0;
  return {
    pids: pids(),
    db,
    async createCaller() {
      callers += 1;
      const { key, createFlow } = await createTenant(`caller-${callers}`, CREDITS);
      return {
        async target(flow, expect, by = 'execute', callbackUrl) {
          const url = `${await createFlow(flow)}/${by}`;
          const body = JSON.stringify({ message: MESSAGE, callbackUrl });
          return { url, headers: { authorization: `Bearer ${key}` }, body, expect };
        },
      };
    },
  };
}

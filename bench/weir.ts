import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { mintApiKey } from '../api/api-key.ts';
import { insertApiKey } from '../db/api-keys.ts';
import type { Db } from '../db/connect.ts';
import { insertFlow, publishVersion, setProductionVersion } from '../db/flows.ts';
import { grantCredits, MICROCREDITS_PER_CREDIT } from '../db/ledger.ts';
import { insertOrganization } from '../db/organizations.ts';
import { insertProject } from '../db/projects.ts';
import { findFreePort } from '../embedded/ports.ts';
import { startService } from '../embedded/service.ts';
import type { Step } from '../flow/definition.ts';
import { code, llm, passthrough } from '../test/blocks.ts';
import { createTestDatabase } from '../test/db/test-database.ts';
import type { Backends } from './backends.ts';
import { startFork } from './fork.ts';
import type { LoadTarget } from './load.ts';

const CREDITS = 1_000_000;

/** What the code block does is what the hand-written candidates do. */
const BLOCKS = [passthrough('forward'), code('shout', 'return input.toUpperCase();'), passthrough('pass-on')];
/** The model answers after 300 ms. */
const MODEL_CALLS = ['first', 'second', 'third'].map((stepId) =>
  llm(stepId, 'Answer to {{previous_output}}', 'demo/slow-300'),
);

export type Weir = {
  pid: number;
  modelServerPid: number;
  /** A three-block flow, and one of three model calls. */
  execute: LoadTarget;
  executeModels: LoadTarget;
  /** Runs of it that nobody waits for, and how many have completed. */
  jobs: LoadTarget;
  countCompletedJobs(): Promise<number>;
  /** The same with a webhook, and how many of those have been delivered. */
  callbacks: LoadTarget;
  countDelivered(): Promise<number>;
};

/** The service as `npm start` runs it, with an API key, flows and a model server of its own. */
export async function startWeir(
  backends: Backends,
  message: string,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Weir> {
  process.env.TEST_DATABASE_URL = backends.databaseUrl;
  const { db, url, drop } = await createTestDatabase();
  onStop(drop);
  const pepper = randomBytes(32).toString('base64url');
  const { flowPath, key } = await createTenant(db, pepper);

  const models = startFork('candidates/model-server.ts');
  onStop(models.stop);
  const { url: modelUrl } = (await models.receive()) as { url: string };
  const receiver = startFork('candidates/webhook-receiver.ts');
  onStop(receiver.stop);
  const { host, address, ca } = (await receiver.receive()) as { host: string; address: string; ca: string };
  const caFile = path.join(backends.stateFolder, 'receiver-ca.pem');
  writeFileSync(caFile, ca);
  const port = await findFreePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const service = await startService({
    stateFolder: backends.stateFolder,
    baseUrl,
    env: {
      ...process.env,
      DATABASE_URL: url,
      TEMPORAL_ADDRESS: backends.temporalAddress,
      WEIR_API_KEY_PEPPER: pepper,
      WEIR_SECRETS_KEYS: `bench:${randomBytes(32).toString('base64')}`,
      WEIR_HOST: '127.0.0.1',
      WEIR_PORT: String(port),
      WEIR_TASK_QUEUE: `bench-${randomUUID()}`,
      DEMO_BASE_URL: modelUrl,
      WEIR_TEST_DIAL_MAP: JSON.stringify({ [host]: address }),
      WEIR_WEBHOOK_CA_FILE: caFile,
      // Counted, never refused.
      WEIR_RATE_LIMIT_PER_KEY: '1000000',
      WEIR_RATE_LIMIT_PER_ORGANIZATION: '1000000',
    },
  });
  onStop(service.stop);

  const blocks = `${baseUrl}/api/v1/seq/${await flowPath(BLOCKS)}`;
  const request = { headers: { authorization: `Bearer ${key}` }, body: JSON.stringify({ message }) };
  return {
    pid: service.pid,
    modelServerPid: models.pid,
    execute: { ...request, url: `${blocks}/execute`, expect: `"result":"${message.toUpperCase()}"` },
    executeModels: {
      ...request,
      url: `${baseUrl}/api/v1/seq/${await flowPath(MODEL_CALLS)}/execute`,
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

/** An organization with a project, credits and a key; `flowPath` publishes a flow in it. */
async function createTenant(db: Db, pepper: string) {
  const { id: organizationId } = await insertOrganization(db, { slug: 'bench', name: 'Bench' });
  const { id: projectId } = await insertProject(db, { organizationId, slug: 'bench', name: 'Bench' });
  await grantCredits(db, organizationId, CREDITS * MICROCREDITS_PER_CREDIT, 'grant/bench');
  const { plaintext, keyId, secretHmac } = mintApiKey('live', pepper);
  await insertApiKey(db, { projectId, keyId, environment: 'live', name: 'bench', secretHmac });
  return {
    key: plaintext,
    async flowPath(steps: Step[]): Promise<string> {
      const slug = `flow-${randomUUID()}`;
      const { id } = await insertFlow(db, { projectId, slug, name: slug, definition: { steps } });
      await setProductionVersion(db, id, await publishVersion(db, id, 'bench'));
      return `bench/bench/${slug}`;
    },
  };
}

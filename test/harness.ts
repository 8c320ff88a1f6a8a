// Starts a Weir for one test file: API and worker in this process, with a database and a task queue of their own on a
// real PostgreSQL and a real Temporal.
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { createWebhookListeners } from '../activities/deliveries/webhook-listeners.ts';
import { createInProcessRuns, type InProcessRuns } from '../activities/in-process-runs.ts';
import { mintApiKey } from '../api/auth/api-key.ts';
import { serveApi } from '../api/serve.ts';
import type { Db } from '../db/connect.ts';
import { grantCredits } from '../db/credits/ledger.ts';
import { insertFlow } from '../db/flows/flows.ts';
import { publishVersion, setProductionVersion } from '../db/flows/versions.ts';
import { insertApiKey } from '../db/tenants/api-keys.ts';
import { insertOrganization } from '../db/tenants/organizations.ts';
import { insertProject } from '../db/tenants/projects.ts';
import { MICROCREDITS_PER_CREDIT } from '../flow/credit-amount.ts';
import type { Step } from '../flow/definition.ts';
import { type Config, readConfig } from '../platform/config/config.ts';
import type { LargeValues } from '../platform/large-values/large-values.ts';
import { type ActivityGates, createActivityGates, type HttpGates } from '../platform/limits/gates.ts';
import { installRuntime } from '../temporal/install-runtime.ts';
import { openDependencies } from '../worker/open-dependencies.ts';
import { runWorker } from '../worker/run-worker.ts';
import { createTestDatabase } from './db/test-database.ts';
import { waitUntil } from './wait-until.ts';
import { testWorkflowBundle } from './workflow-bundle.ts';

/** An organization with one project, one key and credits. */
export type Tenant = {
  organization: string;
  organizationId: string;
  projectId: string;
  key: string;
  keyId: string;
};
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and assert what they find
export type Answer = { status: number; headers: Headers; body: any };

export type Weir = {
  url: string;
  db: Db;
  client: Client;
  config: Config;
  /** The gates of the API. */
  httpGates: HttpGates;
  largeValues: LargeValues;
  /** The gates of the worker that was started last. */
  gates: ActivityGates;
  createTenant(options?: { credits?: number }): Promise<Tenant>;
  /** Publishes a flow as production; returns its path below /api/v1/seq. */
  createFlow(tenant: Tenant, steps: Step[]): Promise<string>;
  /** Sends JSON (or `raw`) to a path below /api/v1/seq, or below /api/v1 if it begins with a slash; `url`: another API. */
  call(
    method: string,
    path: string,
    options?: {
      key?: string | undefined;
      body?: unknown;
      headers?: Record<string, string>;
      raw?: string | Uint8Array<ArrayBuffer>;
      url?: string;
    },
  ): Promise<Answer>;
  /** Polls a job until it has ended; returns the last answer. */
  finish(path: string, executionId: string, key: string): Promise<Answer>;
  startWorker(): Promise<void>;
  stopWorker(): Promise<void>;
  stop(): Promise<void>;
};

/** The variables of the object store with which `npm test` was told to run all tests. */
export function objectStoreEnv(): NodeJS.ProcessEnv {
  return JSON.parse(process.env.TEST_OBJECT_STORE ?? '{}');
}

export const PEPPER = 'a pepper of at least thirty-two characters';
/** Shared by every Weir of the tests, programs in their own processes included. */
export const SECRETS_KEYS = `test:${Buffer.alloc(32, 'k').toString('base64')}`;

type Options = {
  env?: NodeJS.ProcessEnv;
  worker?: boolean;
  inProcessRuns?: InProcessRuns;
  drainMs?: number;
  lingerMs?: number;
  fastModelMs?: number;
  schedules?: boolean;
};
/** The ends of what was started, the last one first. */
type Stops = (() => Promise<unknown>)[];

/** Starts API and worker (unless `worker` is false). The caller stops it; where a part cannot start, the others are stopped. */
export async function startWeir(options: Options = {}): Promise<Weir> {
  const stops: Stops = [];
  try {
    return await bringUp(options, stops);
  } catch (error) {
    await stopAll(stops).catch(() => undefined);
    throw error;
  }
}

/** Stops all, also when one of them fails: then throws its error. */
async function stopAll(stops: Stops): Promise<void> {
  const failures: unknown[] = [];
  for (const stopOne of stops.splice(0)) await stopOne().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function bringUp(options: Options, stops: Stops): Promise<Weir> {
  installRuntime();
  const database = await createTestDatabase();
  stops.unshift(database.drop);
  const { db } = database;
  const config = readConfig({
    DATABASE_URL: database.url,
    WEIR_API_KEY_PEPPER: PEPPER,
    WEIR_SECRETS_KEYS: SECRETS_KEYS,
    WEIR_PORT: '0',
    WEIR_TASK_QUEUE: `test-${randomUUID()}`,
    WEIR_SANDBOX_PROCESSES: '1',
    TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS,
    ...objectStoreEnv(),
    ...options.env,
  });
  const dependencies = await openDependencies(config);
  stops.unshift(dependencies.close);
  const { client } = dependencies;
  const { objects } = dependencies.db;
  if (objects && process.env.TEST_OBJECT_STORE)
    objects.minBytes = Number(process.env.TEST_OBJECT_STORE_MIN_BYTES);
  Object.assign(db, { objects });
  // The shared engine may be slow but is never away: only a test that brings its own engine meets deadlines.
  if (!options.env?.TEMPORAL_ADDRESS) client.withDeadline = (_deadline, work) => work();
  const { inProcessRuns = createInProcessRuns() } = options;
  const listeners = config.webhookListeners ? createWebhookListeners() : undefined;
  const api = await serveApi({ ...dependencies, inProcessRuns, listeners }, options);
  const url = `http://127.0.0.1:${api.port}`;
  let worker: Awaited<ReturnType<typeof runWorker>> | undefined;
  stops.unshift(api.close, () => weir.stopWorker());

  const weir: Weir = {
    url,
    db,
    client,
    config,
    httpGates: api.gates,
    largeValues: dependencies.largeValues,
    gates: createActivityGates(config),
    async createTenant({ credits = 1_000 } = {}) {
      const organization = `org-${randomUUID().slice(0, 8)}`;
      const { id: organizationId } = await insertOrganization(db, { slug: organization, name: organization });
      const { id: projectId } = await insertProject(db, { organizationId, slug: 'project', name: 'Project' });
      if (credits > 0)
        await grantCredits(db, organizationId, credits * MICROCREDITS_PER_CREDIT, 'grant/test');
      const { plaintext, keyId, secretHmac } = mintApiKey('live', PEPPER);
      await insertApiKey(db, { projectId, keyId, environment: 'live', name: 'test', secretHmac });
      return { organization, organizationId, projectId, key: plaintext, keyId };
    },
    async createFlow(tenant, steps) {
      const slug = `flow-${randomUUID().slice(0, 8)}`;
      const { id } = await insertFlow(db, {
        projectId: tenant.projectId,
        slug,
        name: slug,
        definition: { steps },
      });
      await setProductionVersion(db, id, await publishVersion(db, id, 'test'));
      return `${tenant.organization}/project/${slug}`;
    },
    async call(method, path, { key, body, headers, raw, url: base = url } = {}) {
      const response = await fetch(`${base}/api/v1${path.startsWith('/') ? path : `/seq/${path}`}`, {
        method,
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(method !== 'GET' && { body: raw ?? (body === undefined ? null : JSON.stringify(body)) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
    },
    async finish(path, executionId, key) {
      return waitUntil(async () => {
        const answer = await weir.call('GET', `${path}/jobs/${executionId}`, { key });
        return answer.body.status !== 'started' && answer;
      });
    },
    async startWorker() {
      weir.gates = createActivityGates(config);
      worker = await runWorker({
        ...dependencies,
        workflowBundle: await testWorkflowBundle(),
        inProcessRuns,
        runStarts: api.gates.runStarts,
        listeners,
        fastModelMs: options.fastModelMs,
        gates: weir.gates,
        // Without them by default, since the engine that all tests share would be left with them.
        schedules: options.schedules ?? false,
      });
    },
    async stopWorker() {
      worker?.shutdown();
      await worker?.ended;
      worker = undefined;
    },
    stop: () => stopAll(stops),
  };
  if (options.worker !== false) await weir.startWorker();
  return weir;
}

import { randomBytes, randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mintApiKey } from '../../api/auth/api-key.ts';
import type { Db } from '../../db/connect.ts';
import { grantCredits } from '../../db/credits/ledger.ts';
import { insertFlow } from '../../db/flows/flows.ts';
import { publishVersion, setProductionVersion } from '../../db/flows/versions.ts';
import { DEFAULT_KEY_SCOPES, type KeyScope } from '../../db/tables/access.ts';
import { insertApiKey } from '../../db/tenants/api-keys.ts';
import { insertOrganization } from '../../db/tenants/organizations.ts';
import { insertProject } from '../../db/tenants/projects.ts';
import { type Child, startChild } from '../../dev/processes/child.ts';
import { findFreePort } from '../../dev/processes/ports.ts';
import { startService } from '../../dev/service.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import type { Step } from '../../flow/definition.ts';
import { createTestDatabase } from '../../test/db/test-database.ts';
import type { Backends } from './backends.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WATCHDOG = path.join(ROOT, 'worker/disable-workflow-watchdog.ts');

const READY_TIMEOUT_MS = 120_000;

type Options = { stateFolder: string; env: NodeJS.ProcessEnv; baseUrl: string };

/** An organization with one project and an API key for it. */
export type BenchTenant = {
  key: string;
  organizationId: string;
  projectId: string;
  /** Publishes a flow; returns the URL to which `/execute` and the other endpoints are appended. */
  createFlow(steps: Step[]): Promise<string>;
};

/** The service with its own database: API and worker in one process, as `npm start` runs it, or in separate ones. */
export type BenchService = {
  db: Db;
  /** `…/api/v1` */
  apiUrl: string;
  /** Returns the current process of the service, the API's where it is separate. */
  child(): Child;
  /** Returns the processes of the service. */
  pids(): number[];
  /** Starts the service again if it has ended. */
  revive(): Promise<void>;
  createTenant(slug: string, credits: number): Promise<BenchTenant>;
};

/**
 * Starts the service on `backends`; `env` overrides the environment. With `workers`, API and so many workers are separate
 * processes. Registers its stop with `onStop`.
 */
export async function startBenchService(
  backends: Backends,
  env: NodeJS.ProcessEnv,
  onStop: (stop: () => Promise<void>) => void,
  workers = 0,
): Promise<BenchService> {
  process.env.TEST_DATABASE_URL = backends.databaseUrl;
  const { db, url, drop } = await createTestDatabase();
  onStop(drop);
  const pepper = randomBytes(32).toString('base64url');
  const port = await findFreePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const options = {
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
      ...env,
    },
  };
  const start = async (): Promise<[Child, ...Child[]]> =>
    workers > 0 ? startSeparateProcesses(options, workers) : [await startService(options)];
  let children = await start();
  const child = () => children[0];
  onStop(async () => void (await Promise.all(children.map(({ stop }) => stop()))));
  return {
    db,
    apiUrl: `${baseUrl}/api/v1`,
    child,
    pids: () => children.map(({ pid }) => pid),
    async revive() {
      if (child().hasExited()) children = await start();
    },
    async createTenant(slug, credits) {
      const { id: organizationId } = await insertOrganization(db, { slug, name: slug });
      const { id: projectId } = await insertProject(db, { organizationId, slug: 'bench', name: 'Bench' });
      await grantCredits(db, organizationId, credits * MICROCREDITS_PER_CREDIT, `grant/${slug}`);
      const { plaintext, keyId, secretHmac } = mintApiKey('live', pepper);
      const scopes: KeyScope[] = [...DEFAULT_KEY_SCOPES, 'deploy'];
      await insertApiKey(db, { projectId, keyId, environment: 'live', name: 'bench', secretHmac, scopes });
      return {
        key: plaintext,
        organizationId,
        projectId,
        async createFlow(steps) {
          const flow = `flow-${randomUUID()}`;
          const { id } = await insertFlow(db, { projectId, slug: flow, name: flow, definition: { steps } });
          await setProductionVersion(db, id, await publishVersion(db, id, 'bench'));
          return `${baseUrl}/api/v1/seq/${slug}/bench/${flow}`;
        },
      };
    },
  };
}

// API and workers as separate processes, as docker-compose.yml runs them.

/** Starts an API and `workers` workers; resolves when the API is ready and has seen a worker ask for work. */
async function startSeparateProcesses(options: Options, workers: number): Promise<[Child, ...Child[]]> {
  const api = startNode(options, 'api', [path.join(ROOT, 'api/server.ts')]);
  const worker = ['--import', WATCHDOG, path.join(ROOT, 'worker/worker.ts')];
  const children: [Child, ...Child[]] = [api];
  for (let index = 1; index <= workers; index += 1)
    children.push(startNode(options, `worker-${index}`, worker));
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await isReady(options.baseUrl))) {
    const ended = children.find((child) => child.hasExited());
    if (ended || Date.now() > deadline) {
      throw new Error(`Weir did not become ready. ${(ended ?? api).describeLog()}`);
    }
    await sleep(100);
  }
  return children;
}

function startNode({ stateFolder, env }: Options, name: string, args: string[]): Child {
  const command = process.execPath;
  return startChild({
    stateFolder,
    name,
    order: 1,
    command,
    args,
    env,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 50_000,
  });
}

async function isReady(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
    const { away } = (await response.json()) as { away?: string[] };
    return response.ok && !away?.length;
  } catch {
    return false;
  }
}

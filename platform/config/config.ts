// The configuration of the service: environment variables go in, a Config comes out.
// platform/config/variables.ts has the variables, docs/reference.md describes them; `npm start` (dev/) and the
// `weir` command (cli/api/) read some of their own.
import type { ProviderModels } from '../models/registry.ts';
import type { DialMap } from '../net/resolve-public.ts';
import type { EncryptionKey } from '../secrets/encrypt.ts';
import { type Deployment, readDeployment } from './deployment.ts';
import { readObjectStore } from './object-store.ts';
import { type Mcp, type Oidc, readMcp, readOidc } from './oidc.ts';
import { type Provider, readProviders } from './providers.ts';
import { readEnvironment } from './read-environment.ts';
import {
  readTemporal,
  readTemporalEncryption,
  type TemporalConnection,
  type TemporalEncryption,
} from './temporal.ts';
import { readBaseUrl, readPublicUrl, withPassword } from './urls.ts';
import type { WorkerRole } from './values.ts';
import { variables } from './variables.ts';

/** The console: its client, undefined when nobody can sign in with it, the scopes it asks for, and Temporal's Web UI. */
type Console = { clientId: string | undefined; scopes: string; temporalUiUrl: string | undefined };

type Values = {
  WEIR_CONSOLE_CLIENT_ID?: string | undefined;
  WEIR_CONSOLE_SCOPES: string;
  WEIR_TEMPORAL_UI_URL?: string | undefined;
};

export { describeUnknown, isServiceVariable } from './describe-unknown.ts';
export { readAudiences } from './oidc.ts';
export {
  type ApiKind,
  howToConfigure,
  type Provider,
  settingsOf,
  splitBaseUrl,
} from './providers.ts';
export { readEnvironment, TELEMETRY_SECRETS } from './read-environment.ts';
export {
  DEFAULT_ADDRESS,
  isTemporalConfigured,
  type TemporalConnection,
} from './temporal.ts';
export { isLoopback, loopbackUrls, readDatabaseUrl } from './urls.ts';

export type Config = {
  production: boolean;
  databaseUrl: string;
  databaseConnections: number;
  /** The size of the disk of PostgreSQL, in GB. */
  databaseDiskGb: number | undefined;
  apiKeyPepper: string;
  /** The first key encrypts. */
  secretsKeys: [EncryptionKey, ...EncryptionKey[]];
  temporalEncryption: TemporalEncryption;
  host: string;
  port: number;
  metrics: { host: string; port: number | undefined };
  healthPort: number | undefined;
  publicUrl: string | undefined;
  /** The issuer whose JWTs are accepted; undefined when only API keys are. */
  oidc: Oidc | undefined;
  /** The client of `weir login`, undefined when nobody can sign in with it, and the scopes it asks for. */
  cli: { clientId: string | undefined; scopes: string };
  console: Console;
  mcp: Mcp;
  /** Read from TEMPORAL_ADDRESS and Temporal's other standard variables, or its configuration file. */
  temporal: TemporalConnection;
  taskQueue: string;
  workerRoles: WorkerRole[];
  deployment: Deployment | undefined;
  sandboxProcesses: number;
  sandboxReserve: number;
  /** Credits per second of processor time. */
  codePrice: number;
  modelConcurrency: number;
  heartbeatTimeoutMs: number;
  webhookConcurrency: number;
  webhookCaFile: string | undefined;
  webhookListeners: boolean;
  egressProxy: URL | undefined;
  modelsFile: string | undefined;
  modelsUrl: string | undefined;
  modelsRefreshMinutes: number;
  judgeModel: string | undefined;
  /** Requests per minute; 0 means no limit. */
  rateLimitPerKey: number;
  rateLimitPerOrganization: number;
  /** 0 means no limit. */
  runsUnderWayMax: number;
  /** Per organization, API process and kind of request; 0 means no limit. */
  openRequestsMax: number;
  /** Per minute and address; 0 means no limit. */
  failedSignInsPerMinute: number;
  proxies: number;
  /** User ids. */
  operators: Set<string>;
  startingCredits: number;
  retentionDays: number | undefined;
  /** undefined: large values are in the database. */
  objectStore: ReturnType<typeof readObjectStore>;
  dialMap: DialMap | undefined;
  testWorkflowBundle: string | undefined;
  providers: Record<string, Provider>;
  /** Providers, configured or public, that take keys of callers and organizations; without the service's keys. */
  ownKeyProviders: Record<string, Provider>;
  /** Capabilities and prices of the models of further providers. */
  providerModels: Record<string, ProviderModels>;
};

/** Reads the configuration. Throws an Error that names every missing or invalid variable. */
export function readConfig(given: NodeJS.ProcessEnv = process.env): Config {
  const env = readEnvironment(given);
  const parsed = variables.safeParse(env, {
    error: (issue) => (issue.input === undefined ? 'is not set' : undefined),
  });
  if (!parsed.success) {
    const problems = new Set(
      parsed.error.issues.map(({ path, message }) => `  ${String(path[0])} ${message}`),
    );
    throw new Error(
      `The configuration is not valid. Set or correct these variables:\n${[...problems].join('\n')}`,
    );
  }
  const values = parsed.data;
  return {
    production: values.NODE_ENV === 'production',
    databaseUrl: withPassword(values.DATABASE_URL, env.PGPASSWORD),
    databaseConnections: values.WEIR_DATABASE_CONNECTIONS,
    databaseDiskGb: values.WEIR_DATABASE_DISK_GB,
    apiKeyPepper: values.WEIR_API_KEY_PEPPER,
    secretsKeys: values.WEIR_SECRETS_KEYS,
    temporalEncryption: readTemporalEncryption(values),
    host: values.WEIR_HOST,
    port: values.WEIR_PORT,
    metrics: { host: values.WEIR_METRICS_HOST ?? values.WEIR_HOST, port: values.WEIR_METRICS_PORT },
    healthPort: values.WEIR_HEALTH_PORT,
    publicUrl: readPublicUrl(values),
    oidc: readOidc(values, readBaseUrl(values)),
    cli: { clientId: values.WEIR_CLI_CLIENT_ID, scopes: values.WEIR_CLI_SCOPES },
    console: readConsole(values),
    mcp: readMcp(values, readBaseUrl(values)),
    temporal: readTemporal(env),
    taskQueue: values.WEIR_TASK_QUEUE,
    workerRoles: values.WEIR_WORKER_ROLES,
    deployment: readDeployment(values),
    sandboxProcesses: values.WEIR_SANDBOX_PROCESSES,
    sandboxReserve: values.WEIR_SANDBOX_RESERVE,
    codePrice: values.WEIR_CODE_PRICE,
    modelConcurrency: values.WEIR_MODEL_CONCURRENCY,
    heartbeatTimeoutMs: values.WEIR_HEARTBEAT_TIMEOUT * 1_000,
    webhookConcurrency: values.WEIR_WEBHOOK_CONCURRENCY,
    webhookCaFile: values.WEIR_WEBHOOK_CA_FILE,
    webhookListeners: values.WEIR_WEBHOOK_LISTENERS,
    egressProxy: values.WEIR_EGRESS_PROXY,
    modelsFile: values.WEIR_MODELS_FILE,
    modelsUrl: values.WEIR_MODELS_URL,
    modelsRefreshMinutes: values.WEIR_MODELS_REFRESH,
    judgeModel: values.WEIR_JUDGE_MODEL,
    rateLimitPerKey: values.WEIR_RATE_LIMIT_PER_KEY,
    runsUnderWayMax: values.WEIR_RUNS_UNDER_WAY_MAX,
    openRequestsMax: values.WEIR_OPEN_REQUESTS_MAX,
    rateLimitPerOrganization: values.WEIR_RATE_LIMIT_PER_ORGANIZATION,
    failedSignInsPerMinute: values.WEIR_FAILED_SIGN_INS,
    proxies: values.WEIR_PROXIES,
    operators: values.WEIR_OPERATORS,
    startingCredits: values.WEIR_STARTING_CREDITS,
    retentionDays: values.WEIR_RETENTION_DAYS,
    objectStore: readObjectStore(values),
    dialMap: values.WEIR_TEST_DIAL_MAP,
    testWorkflowBundle: values.WEIR_TEST_WORKFLOW_BUNDLE,
    ...readProviders(env),
  };
}

function readConsole(values: Values): Console {
  return {
    clientId: values.WEIR_CONSOLE_CLIENT_ID,
    scopes: values.WEIR_CONSOLE_SCOPES.trim(),
    temporalUiUrl: values.WEIR_TEMPORAL_UI_URL?.replace(/\/+$/, ''),
  };
}

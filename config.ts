// The configuration of the service: environment variables go in, a Config comes out. An empty variable counts as unset.
// docs/operating.md describes all variables; `npm start` (embedded/) and the `weir` command (cli/api/) read
// some of their own.
import { availableParallelism } from 'node:os';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import { readBaseUrl, readPublicUrl } from './config/base-url.ts';
import { type Console, readConsole } from './config/console.ts';
import { type Mcp, readMcp } from './config/mcp.ts';
import { type Oidc, readOidc } from './config/oidc.ts';
import { type Provider, readProviders, readProviderUrls } from './config/providers.ts';
import {
  count,
  countOrNone,
  credits,
  dialMap,
  encryptionKeys,
  httpUrl,
  nodeEnv,
  onOrOff,
  origins,
  pepper,
  port,
  postgresUrl,
  price,
  proxyUrl,
  rateLimit,
  userIds,
  wholeNumber,
  withoutEmpty,
} from './config/values.ts';
import type { EncryptionKey } from './db/encrypt.ts';
import type { DialMap } from './net/resolve-public.ts';

export { readAudiences } from './config/audiences.ts';
export { isLoopback, loopbackUrls } from './config/loopback.ts';
export type { Provider } from './config/providers.ts';
export { withoutEmpty } from './config/values.ts';

const MODELS_REFRESH_MAX_MINUTES = 7 * 24 * 60;
const PROXIES_MAX = 10;
const RETENTION_MAX_DAYS = 36_500;

const environment = z.object({
  /** `production` loads the workflow bundle that `npm run bundle` wrote, where there is one. */
  NODE_ENV: nodeEnv.default('development'),
  DATABASE_URL: postgresUrl,
  /** The most connections to PostgreSQL that one process opens. */
  WEIR_DATABASE_CONNECTIONS: count.default(20),
  /** The HMAC-SHA256 key under which API key secrets are stored; at least 32 characters. */
  WEIR_API_KEY_PEPPER: pepper,
  /** Keys of stored secrets: the first encrypts, all decrypt; e.g. `2026:` and the output of `openssl rand -base64 32`. */
  WEIR_SECRETS_KEYS: encryptionKeys,
  WEIR_HOST: z.string().default('127.0.0.1'),
  WEIR_PORT: port.default(8787),
  /** The URL at which callers reach the API; audiences and the MCP endpoint use http://WEIR_HOST:WEIR_PORT when absent. */
  WEIR_PUBLIC_URL: httpUrl.optional(),
  /** The OpenID Connect issuer whose JWTs are accepted, exactly as in its discovery document; none when absent. */
  WEIR_OIDC_ISSUER: httpUrl.optional(),
  /** `aud` of JWTs for management and execution; <public url>/api/v1 when absent. */
  WEIR_OIDC_AUDIENCE: z.string().optional(),
  /** `aud` of JWTs for MCP; <public url>/api/v1/mcp/ when absent. */
  WEIR_MCP_AUDIENCE: z.string().optional(),
  /** The client id with which `weir login` signs users in at the issuer; nobody can when it is absent. */
  WEIR_CLI_CLIENT_ID: z.string().optional(),
  /** The scopes, separated by spaces, that `weir login` asks for. */
  WEIR_CLI_SCOPES: z.string().default('openid offline_access'),
  /** The client id with which the console signs users in at the issuer; nobody can when it is absent. */
  WEIR_CONSOLE_CLIENT_ID: z.string().optional(),
  /** The scopes, separated by spaces, that the console asks for. */
  WEIR_CONSOLE_SCOPES: z.string().default('openid profile email offline_access'),
  /** The URL of Temporal's Web UI, to which the console links runs; no links when absent. */
  WEIR_TEMPORAL_UI_URL: httpUrl.optional(),
  /** Origins, comma-separated, whose web pages may use MCP, in addition to that of WEIR_PUBLIC_URL. */
  WEIR_MCP_ALLOWED_ORIGINS: origins.default([]),
  /** The Temporal task queue of flow runs. */
  WEIR_TASK_QUEUE: z.string().default('weir-flows'),
  /** The most processes for user code that one organization has in a worker. */
  WEIR_SANDBOX_PROCESSES: count.default(availableParallelism()),
  /** Further processes, for organizations that have no code running in the worker. */
  WEIR_SANDBOX_RESERVE: countOrNone.default(8),
  /** Credits per second of processor time of code blocks; 0 makes them free. */
  WEIR_CODE_PRICE: price.default(0),
  /** Model calls that one worker makes at a time. */
  WEIR_MODEL_CONCURRENCY: count.default(100),
  /** Webhook attempts that one worker makes at a time. */
  WEIR_WEBHOOK_CONCURRENCY: count.default(500),
  /** Path of a PEM file with certificate authorities of webhook receivers, in addition to those of Node.js. */
  WEIR_WEBHOOK_CA_FILE: z.string().optional(),
  /** `on` lets `weir listen` receive webhooks; needs API and worker in one process. Refused in production. */
  WEIR_WEBHOOK_LISTENERS: onOrOff.default(false),
  /** The proxy for webhooks, `http://[user:password@]host:port`. */
  WEIR_EGRESS_PROXY: proxyUrl.optional(),
  /** Path of a JSON file that is merged over models/models.json. */
  WEIR_MODELS_FILE: z.string().optional(),
  /** URL of a JSON file that is merged over both. */
  WEIR_MODELS_URL: httpUrl
    .refine((url) => !/\/\/[^/?#]*@/.test(url), { error: 'must not contain a user name or password' })
    .optional(),
  /** Minutes between two fetches of WEIR_MODELS_URL. */
  WEIR_MODELS_REFRESH: wholeNumber(1, MODELS_REFRESH_MAX_MINUTES).default(60),
  /** The model, with its provider prefix, that judges test cases which name none. */
  WEIR_JUDGE_MODEL: z.string().optional(),
  /** Requests per minute that one API key may send to all API processes together; 0 means no limit. */
  WEIR_RATE_LIMIT_PER_KEY: rateLimit.default(60_000),
  /** The same limit for all API keys of an organization together. */
  WEIR_RATE_LIMIT_PER_ORGANIZATION: rateLimit.default(300_000),
  /** Invalid keys and tokens per minute that one address may send to each API process; 0 means no limit. */
  WEIR_FAILED_SIGN_INS: rateLimit.default(600),
  /** Proxies in front of the API that append to X-Forwarded-For; with 0, the address is that of the connection. */
  WEIR_PROXIES: wholeNumber(0, PROXIES_MAX).default(0),
  /** The ids of users who may grant credits over HTTP, comma-separated: the `sub` of their tokens. */
  WEIR_OPERATORS: userIds.default(new Set()),
  /** Credits of the first organization that a user makes over HTTP. */
  WEIR_STARTING_CREDITS: credits.default(0),
  /** Days after which ended runs, with their traces and deliveries, and test runs are deleted; never when absent. */
  WEIR_RETENTION_DAYS: wholeNumber(1, RETENTION_MAX_DAYS).optional(),
  /** For tests: connects to other addresses for these hosts of callers' URLs, unchecked. Refused in production. */
  WEIR_TEST_DIAL_MAP: dialMap.optional(),
  /** For tests: the path of a workflow bundle that workers load. Refused in production. */
  WEIR_TEST_WORKFLOW_BUNDLE: z.string().optional(),
});
const checkedEnvironment = environment.superRefine((values, context) => {
  if (values.NODE_ENV !== 'production') return;
  const { WEIR_TEST_DIAL_MAP, WEIR_TEST_WORKFLOW_BUNDLE, WEIR_WEBHOOK_LISTENERS } = values;
  const refused = { WEIR_TEST_DIAL_MAP, WEIR_TEST_WORKFLOW_BUNDLE, WEIR_WEBHOOK_LISTENERS };
  const message = 'must not be set in production: it is for tests or a local service';
  for (const [name, value] of Object.entries(refused))
    if (value) context.addIssue({ code: 'custom', path: [name], message });
});

export type Config = {
  production: boolean;
  databaseUrl: string;
  databaseConnections: number;
  apiKeyPepper: string;
  /** The first key encrypts. */
  secretsKeys: [EncryptionKey, ...EncryptionKey[]];
  host: string;
  port: number;
  publicUrl: string | undefined;
  /** The issuer whose JWTs are accepted; undefined when only API keys are. */
  oidc: Oidc | undefined;
  /** The client of `weir login`, undefined when nobody can sign in with it, and the scopes it asks for. */
  cli: { clientId: string | undefined; scopes: string };
  console: Console;
  mcp: Mcp;
  /** Read from TEMPORAL_ADDRESS and Temporal's other standard variables, or its configuration file. */
  temporal: ReturnType<typeof loadClientConnectConfig>;
  taskQueue: string;
  sandboxProcesses: number;
  sandboxReserve: number;
  /** Credits per second of processor time. */
  codePrice: number;
  modelConcurrency: number;
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
  /** Per minute and address; 0 means no limit. */
  failedSignInsPerMinute: number;
  proxies: number;
  /** User ids. */
  operators: Set<string>;
  startingCredits: number;
  retentionDays: number | undefined;
  dialMap: DialMap | undefined;
  testWorkflowBundle: string | undefined;
  providers: Record<string, Provider>;
  /** Base URLs of providers, configured or public, to which callers' own keys may be sent. */
  providerUrls: Record<string, string>;
};

/** Reads the configuration. Throws an Error that names every missing or invalid variable. */
export function readConfig(given: NodeJS.ProcessEnv = process.env): Config {
  const env = withoutEmpty(given);
  const parsed = checkedEnvironment.safeParse(env, {
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
    databaseUrl: values.DATABASE_URL,
    databaseConnections: values.WEIR_DATABASE_CONNECTIONS,
    apiKeyPepper: values.WEIR_API_KEY_PEPPER,
    secretsKeys: values.WEIR_SECRETS_KEYS,
    host: values.WEIR_HOST,
    port: values.WEIR_PORT,
    publicUrl: readPublicUrl(values),
    oidc: readOidc(values, readBaseUrl(values)),
    cli: { clientId: values.WEIR_CLI_CLIENT_ID, scopes: values.WEIR_CLI_SCOPES },
    console: readConsole(values),
    mcp: readMcp(values, readBaseUrl(values)),
    temporal: loadClientConnectConfig({ overrideEnvVars: env as Record<string, string> }),
    taskQueue: values.WEIR_TASK_QUEUE,
    sandboxProcesses: values.WEIR_SANDBOX_PROCESSES,
    sandboxReserve: values.WEIR_SANDBOX_RESERVE,
    codePrice: values.WEIR_CODE_PRICE,
    modelConcurrency: values.WEIR_MODEL_CONCURRENCY,
    webhookConcurrency: values.WEIR_WEBHOOK_CONCURRENCY,
    webhookCaFile: values.WEIR_WEBHOOK_CA_FILE,
    webhookListeners: values.WEIR_WEBHOOK_LISTENERS,
    egressProxy: values.WEIR_EGRESS_PROXY,
    modelsFile: values.WEIR_MODELS_FILE,
    modelsUrl: values.WEIR_MODELS_URL,
    modelsRefreshMinutes: values.WEIR_MODELS_REFRESH,
    judgeModel: values.WEIR_JUDGE_MODEL,
    rateLimitPerKey: values.WEIR_RATE_LIMIT_PER_KEY,
    rateLimitPerOrganization: values.WEIR_RATE_LIMIT_PER_ORGANIZATION,
    failedSignInsPerMinute: values.WEIR_FAILED_SIGN_INS,
    proxies: values.WEIR_PROXIES,
    operators: values.WEIR_OPERATORS,
    startingCredits: values.WEIR_STARTING_CREDITS,
    retentionDays: values.WEIR_RETENTION_DAYS,
    dialMap: values.WEIR_TEST_DIAL_MAP,
    testWorkflowBundle: values.WEIR_TEST_WORKFLOW_BUNDLE,
    providers: readProviders(env),
    providerUrls: readProviderUrls(env),
  };
}

/** Reads DATABASE_URL alone, for programs that need nothing else. */
export function readDatabaseUrl(): string {
  const { success, data } = postgresUrl.safeParse(process.env.DATABASE_URL);
  if (success) return data;
  throw new Error('DATABASE_URL must be the postgres:// address of the database.');
}

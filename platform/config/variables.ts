// The environment variables of the service, with their values and defaults.
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { deploymentVariables } from './deployment.ts';
import { objectStoreVariables } from './object-store.ts';
import { refuseInProduction } from './refuse-in-production.ts';
import {
  count,
  countOrNone,
  credits,
  dialMap,
  encryptionKeys,
  host,
  httpUrl,
  logLevel,
  modelsRefreshMinutes,
  nodeEnv,
  onOrOff,
  origins,
  pepper,
  port,
  postgresUrl,
  price,
  proxies,
  proxyUrl,
  rateLimit,
  retentionDays,
  userIds,
  workerRoles,
} from './values.ts';

export const TASK_QUEUE_DEFAULT = 'weir-flows';

const environment = z.object({
  /** `production` refuses what is for development and tests. */
  NODE_ENV: nodeEnv.default('development'),
  DATABASE_URL: postgresUrl,
  /** The most connections to PostgreSQL that one process opens. */
  WEIR_DATABASE_CONNECTIONS: count.default(20),
  /** The HMAC-SHA256 key under which API key secrets are stored; at least 32 characters. */
  WEIR_API_KEY_PEPPER: pepper,
  /** Keys of stored secrets: the first encrypts, all decrypt; e.g. `2026:` and the output of `openssl rand -base64 32`. */
  WEIR_SECRETS_KEYS: encryptionKeys,
  /** Keys of what Temporal stores, in the same form; without them, what they encrypted cannot be read. */
  WEIR_TEMPORAL_KEYS: encryptionKeys.optional(),
  /** `off` only decrypts; `on` where there are keys, when absent. */
  WEIR_TEMPORAL_ENCRYPTION: onOrOff.optional(),
  WEIR_HOST: host.default('127.0.0.1'),
  WEIR_PORT: port.default(8787),
  /** Where /metrics is served: nowhere without a port, on WEIR_HOST without a host. */
  WEIR_METRICS_PORT: port.optional(),
  WEIR_METRICS_HOST: host.optional(),
  /** Where a worker serves /healthz and /readyz, on WEIR_HOST; nowhere when absent. */
  WEIR_HEALTH_PORT: port.optional(),
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
  WEIR_TASK_QUEUE: z.string().default(TASK_QUEUE_DEFAULT),
  /** The work of workers: they run flows, deliver webhooks, or do both. */
  WEIR_WORKER_ROLES: workerRoles.default(['flows', 'webhooks']),
  ...deploymentVariables,
  /** The most processes for user code that one organization has in a worker. */
  WEIR_SANDBOX_PROCESSES: count.default(availableParallelism()),
  /** Further processes, for organizations that have no code running in the worker. */
  WEIR_SANDBOX_RESERVE: countOrNone.default(8),
  /** Credits per second of processor time of code blocks; 0 makes them free. */
  WEIR_CODE_PRICE: price.default(0),
  /** Model calls of one organization that one worker makes at a time; some more are for organizations that have few. */
  WEIR_MODEL_CONCURRENCY: count.default(200),
  /** Webhook attempts that one worker makes at a time. */
  WEIR_WEBHOOK_CONCURRENCY: count.default(500),
  /** Path of a PEM file with certificate authorities of webhook receivers, in addition to those of Node.js. */
  WEIR_WEBHOOK_CA_FILE: z.string().optional(),
  /** `on` lets `weir listen` receive webhooks; needs API and worker in one process. Refused in production. */
  WEIR_WEBHOOK_LISTENERS: onOrOff.default(false),
  /** The proxy for webhooks, `http://[user:password@]host:port`. */
  WEIR_EGRESS_PROXY: proxyUrl.optional(),
  /** Path of a JSON file that is merged over platform/models/models.json. */
  WEIR_MODELS_FILE: z.string().optional(),
  /** URL of a JSON file that is merged over both. */
  WEIR_MODELS_URL: httpUrl.optional(),
  /** Minutes between two fetches of WEIR_MODELS_URL. */
  WEIR_MODELS_REFRESH: modelsRefreshMinutes.default(60),
  /** The model, with its provider prefix, that judges test cases which name none. */
  WEIR_JUDGE_MODEL: z.string().optional(),
  /** Requests per minute that one API key may send to all API processes together; 0 means no limit. */
  WEIR_RATE_LIMIT_PER_KEY: rateLimit.default(60_000),
  /** The same limit for all API keys of an organization together. */
  WEIR_RATE_LIMIT_PER_ORGANIZATION: rateLimit.default(300_000),
  /** How many runs of one organization may be under way, unless an operator set another number for it; 0 means no limit. */
  WEIR_RUNS_UNDER_WAY_MAX: countOrNone.default(0),
  /**
   * How many calls of one organization each API process lets wait for their runs, and how many streams of events and long
   * polls it holds open; 0 means no limit. The default is twice the number that may wait for their runs to begin.
   */
  WEIR_OPEN_REQUESTS_MAX: countOrNone.default(2_000),
  /** Invalid keys and tokens per minute that one address may send to each API process; 0 means no limit. */
  WEIR_FAILED_SIGN_INS: rateLimit.default(600),
  /** Proxies in front of the API that append to X-Forwarded-For; with 0, the address is that of the connection. */
  WEIR_PROXIES: proxies.default(0),
  /** The ids of users who may grant credits over HTTP, comma-separated: the `sub` of their tokens. */
  WEIR_OPERATORS: userIds.default(new Set()),
  /** Credits of the first organization that a user makes over HTTP. */
  WEIR_STARTING_CREDITS: credits.default(0),
  /** The least level of lines that are logged, `info` when absent. The log reads it itself, since it comes first. */
  WEIR_LOG_LEVEL: logLevel.optional(),
  /** Days after which ended runs, with their traces and deliveries, and test runs are deleted; never when absent. */
  WEIR_RETENTION_DAYS: retentionDays.optional(),
  ...objectStoreVariables,
  /** For tests: connects to other addresses for these hosts of callers' URLs, unchecked. Refused in production. */
  WEIR_TEST_DIAL_MAP: dialMap.optional(),
  /** For tests: the path of a workflow bundle that workers load. Refused in production. */
  WEIR_TEST_WORKFLOW_BUNDLE: z.string().optional(),
});

/** The variables, of which some are refused in production. */
export const variables = environment.superRefine(refuseInProduction);

// The environment variables of the service, with their values and defaults. docs/reference.md is generated from them: `program`
// reads the variable, and `byDefault` describes a default that the schema does not have.
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { deploymentVariables } from './deployment.ts';
import { objectStoreVariables } from './object-store.ts';
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

type Values = {
  NODE_ENV: string;
  WEIR_TEST_DIAL_MAP?: unknown;
  WEIR_TEST_WORKFLOW_BUNDLE?: unknown;
  WEIR_WEBHOOK_LISTENERS: boolean;
};

const TASK_QUEUE_DEFAULT = 'weir-flows';

const environment = z.object({
  NODE_ENV: nodeEnv.default('development').meta({
    program: 'all',
    byDefault: '`development`; `production` in the image',
    description: '`production` rejects settings for development and tests.',
  }),
  DATABASE_URL: postgresUrl.meta({
    program: 'all',
    byDefault: 'required; `npm start`: its own PostgreSQL in `.weir/`',
    description: 'Address of the database, `postgres://…`.',
  }),
  WEIR_DATABASE_CONNECTIONS: count
    .default(20)
    .meta({ program: 'API, worker', description: 'Maximum connections to PostgreSQL per process.' }),
  WEIR_DATABASE_DISK_GB: count.optional().meta({
    program: 'worker',
    byDefault: 'none: no alert',
    description:
      'Size of the disk of PostgreSQL in GB, for the alert [WeirDatabaseFills](operating/alerts.md#weirdatabasefills).',
  }),
  WEIR_API_KEY_PEPPER: pepper.meta({
    program: 'all',
    byDefault: 'required; `npm start`: made in `.weir/`',
    description:
      'Secret of at least 32 characters. An API key is valid only under the pepper with which it was created.',
  }),
  WEIR_SECRETS_KEYS: encryptionKeys.meta({
    program: 'all',
    byDefault: 'required; `npm start`: made in `.weir/`',
    description:
      '`id:base64key,…` of 32 bytes each with unique ids, for stored secrets. The first key encrypts, all keys decrypt. `openssl rand -base64 32` makes a key.',
  }),
  WEIR_TEMPORAL_KEYS: encryptionKeys.optional().meta({
    program: 'API, worker',
    byDefault: 'none: data in Temporal is not encrypted',
    description:
      '`id:base64key,…` of 32 bytes each. The first key encrypts what Temporal stores, all keys decrypt.',
  }),
  WEIR_TEMPORAL_ENCRYPTION: onOrOff.optional().meta({
    program: 'API, worker',
    byDefault: '`on` where there are keys',
    description: '`off` decrypts and does not encrypt, for the time in which some processes lack the keys.',
  }),
  WEIR_HOST: host.default('127.0.0.1').meta({
    program: 'API, worker',
    byDefault: '`127.0.0.1`; `0.0.0.0` in the image',
    description: 'Address at which the process listens.',
  }),
  WEIR_PORT: port.default(8787).meta({ program: 'API', description: 'Port of the API.' }),
  WEIR_METRICS_PORT: port.optional().meta({
    program: 'API, worker',
    description: 'Port at which the process serves `/metrics` for Prometheus.',
  }),
  WEIR_METRICS_HOST: host.optional().meta({
    program: 'API, worker',
    byDefault: '`WEIR_HOST`',
    description: 'Address at which `/metrics` is served.',
  }),
  WEIR_HEALTH_PORT: port.optional().meta({
    program: 'worker',
    description:
      'Port at which a worker serves `/healthz` and `/readyz`, on `WEIR_HOST`. An API serves both at `WEIR_PORT`.',
  }),
  WEIR_PUBLIC_URL: httpUrl.optional().meta({
    program: 'API',
    byDefault: '`http://WEIR_HOST:WEIR_PORT`',
    description:
      'Address at which callers reach the API. Part of the default audiences and of the API reference.',
  }),
  WEIR_OIDC_ISSUER: httpUrl.optional().meta({
    program: 'API',
    byDefault: 'none; `npm start`: an embedded provider',
    description:
      'OpenID Connect issuer whose JWTs are accepted, exactly as in its discovery document. https in production, except on loopback. With the embedded provider, `npm start` sets `WEIR_CLI_…` and `WEIR_CONSOLE_…` itself and ignores yours.',
  }),
  WEIR_OIDC_AUDIENCE: z
    .string()
    .optional()
    .meta({ program: 'API', byDefault: '`<public url>/api/v1`', description: '`aud` of tokens for HTTP.' }),
  WEIR_MCP_AUDIENCE: z.string().optional().meta({
    program: 'API',
    byDefault: '`<public url>/api/v1/mcp/`',
    description: '`aud` of tokens for MCP.',
  }),
  WEIR_CLI_CLIENT_ID: z.string().optional().meta({
    program: 'API',
    byDefault: 'none; `npm start`: `weir-cli`',
    description: 'Client of `weir login` at the issuer. Without it nobody can sign in on the command line.',
  }),
  WEIR_CLI_SCOPES: z.string().default('openid offline_access').meta({
    program: 'API',
    byDefault: '`openid offline_access`; `npm start`: `openid manage`',
    description: 'Scopes, separated by spaces, that `weir login` requests.',
  }),
  WEIR_CONSOLE_CLIENT_ID: z.string().optional().meta({
    program: 'API',
    byDefault: 'none; `npm start`: `weir-console`',
    description: 'Client of the console at the issuer. Without it nobody can sign in to the console.',
  }),
  WEIR_CONSOLE_SCOPES: z.string().default('openid profile email offline_access').meta({
    program: 'API',
    byDefault: '`openid profile email offline_access`; `npm start`: `openid manage`',
    description: 'Scopes, separated by spaces, that the console requests.',
  }),
  WEIR_TEMPORAL_UI_URL: httpUrl.optional().meta({
    program: 'API',
    byDefault: 'none; `npm start`: its own server; Docker Compose: `http://127.0.0.1:8233`',
    description:
      "Temporal's Web UI as browsers reach it. The console links runs to it. Only its web pages may use the codec endpoint.",
  }),
  WEIR_MCP_ALLOWED_ORIGINS: origins.default([]).meta({
    program: 'API',
    description:
      'Comma-separated origins whose web pages may use MCP, besides the origin of `WEIR_PUBLIC_URL`.',
  }),
  WEIR_TASK_QUEUE: z.string().default(TASK_QUEUE_DEFAULT).meta({
    program: 'API, worker',
    description:
      'Temporal task queue of runs. Workers also poll `<task queue>-webhooks`. Each service in a namespace needs its own. All processes of a database need the same queue, namespace and server.',
  }),
  WEIR_WORKER_ROLES: workerRoles.default(['flows', 'webhooks']).meta({
    program: 'worker',
    byDefault: '`flows,webhooks`',
    description: 'What a worker does: run flows, deliver webhooks, or both.',
  }),
  ...deploymentVariables,
  WEIR_SANDBOX_PROCESSES: count.default(availableParallelism()).meta({
    program: 'worker',
    byDefault: 'one per core',
    description: 'Maximum processes for user code of one organization in a worker.',
  }),
  WEIR_SANDBOX_RESERVE: countOrNone.default(8).meta({
    program: 'worker',
    description:
      'Further sandbox processes for organizations that have none. Each takes about 60 MB, under heavy code 320 MB, and ends when idle.',
  }),
  WEIR_CODE_PRICE: price.default(0).meta({
    program: 'worker',
    description: 'Credits per second of processor time of code blocks. 0: free.',
  }),
  WEIR_MODEL_CONCURRENCY: count.default(200).meta({
    program: 'worker',
    description:
      'Calls of one provider that a worker makes at a time. A quarter more, at least 4, are for organizations with few calls.',
  }),
  WEIR_HEARTBEAT_TIMEOUT: count.default(75).meta({
    program: 'worker',
    description:
      'Seconds without a heartbeat after which a slow model call counts as lost with its worker, and is repeated by another.',
  }),
  WEIR_WEBHOOK_CONCURRENCY: count.default(500).meta({
    program: 'worker',
    description:
      'Delivery attempts that one worker makes at a time. Keep it at several times 40, the maximum of one organization.',
  }),
  WEIR_WEBHOOK_CA_FILE: z.string().optional().meta({
    program: 'worker',
    description: 'PEM file of further certificate authorities for webhook receivers.',
  }),
  WEIR_WEBHOOK_LISTENERS: onOrOff.default(false).meta({
    program: 'API, worker',
    byDefault: '`off`; `npm start`, except in production: `on`',
    description:
      '`on` lets `weir listen` receive webhooks. Needs API and worker in one process. Rejected in production.',
  }),
  WEIR_EGRESS_PROXY: proxyUrl.optional().meta({
    program: 'worker',
    description:
      '`http://[user:password@]host:port`. Webhooks go out through this proxy, which gets a `CONNECT` to the address that was checked.',
  }),
  WEIR_PROVIDERS_FILE: z.string().optional().meta({
    program: 'API, worker',
    description: 'Path of a JSON file with further [providers](own-model.md#further-providers).',
  }),
  WEIR_MODELS_FILE: z.string().optional().meta({
    program: 'API, worker',
    description: 'Path of a JSON file laid over the built-in model list: capabilities and prices.',
  }),
  WEIR_MODELS_URL: httpUrl
    .optional()
    .meta({ program: 'API, worker', description: 'http(s) address of a JSON model list laid over both.' }),
  WEIR_MODELS_REFRESH: modelsRefreshMinutes.default(60).meta({
    program: 'API, worker',
    description: 'Minutes between two fetches of `WEIR_MODELS_URL`, at most 10,080.',
  }),
  WEIR_JUDGE_MODEL: z.string().optional().meta({
    program: 'API',
    description:
      'Model, with provider prefix, that judges test cases which name none. It is written into a case when the case is saved. Without it, such a case is 422.',
  }),
  WEIR_RATE_LIMIT_PER_KEY: rateLimit.default(60_000).meta({
    program: 'API',
    description: 'Requests per minute of one API key or user, over all API processes. 0: no limit.',
  }),
  WEIR_RATE_LIMIT_PER_ORGANIZATION: rateLimit.default(300_000).meta({
    program: 'API',
    description:
      'Requests per minute of all API keys of an organization, over all API processes. 0: no limit.',
  }),
  WEIR_RUNS_UNDER_WAY_MAX: countOrNone.default(0).meta({
    program: 'API',
    description:
      'Unfinished runs of an organization, unless an operator sets a number with `weir operator org set-quota` (there, `unlimited` instead of 0). 0: no limit.',
  }),
  // The default is twice the number that may wait for their runs to begin.
  WEIR_OPEN_REQUESTS_MAX: countOrNone.default(2_000).meta({
    program: 'API',
    description:
      'Requests held open per organization, API process and kind (calls; streams and long polls). All organizations together may hold four times as many, beyond which only an organization below its equal share gets more. 0: no limit.',
  }),
  WEIR_FAILED_SIGN_INS: rateLimit.default(600).meta({
    program: 'API',
    description: 'Invalid keys and tokens per minute from one address, per API process. 0: no limit.',
  }),
  WEIR_PROXIES: proxies.default(0).meta({
    program: 'API',
    description:
      'Number of proxies in front of the API that append to `X-Forwarded-For`. 0: the address is that of the connection.',
  }),
  WEIR_OPERATORS: userIds.default(new Set()).meta({
    program: 'API',
    byDefault: 'none; `npm start`, except in production: owners of the demo organization',
    description:
      'Comma-separated user ids (`sub`) of operators, who may do what an owner of any organization may.',
  }),
  WEIR_STARTING_CREDITS: credits.default(0).meta({
    program: 'API',
    byDefault: '`0`; `npm start`, except in production: `100`',
    description: 'Credits of the first organization that a user creates over HTTP.',
  }),
  // The log reads the variable itself, because it starts first.
  WEIR_LOG_LEVEL: logLevel.optional().meta({
    program: 'all',
    byDefault: '`info`',
    description: 'Lowest level in the log: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
  }),
  WEIR_RETENTION_DAYS: retentionDays.optional().meta({
    program: 'worker',
    byDefault: 'none: never',
    description:
      'Days after which ended or paused runs with their traces and deliveries, and test runs, are deleted.',
  }),
  ...objectStoreVariables,
  WEIR_TEST_DIAL_MAP: dialMap.optional().meta({
    program: 'API, worker',
    description:
      'For tests: `{"host[:port]": "address:port"}`. Connections go there, unchecked. Rejected in production.',
  }),
  WEIR_TEST_WORKFLOW_BUNDLE: z.string().optional().meta({
    program: 'worker',
    description: 'For tests: path of the workflow bundle that workers load. Rejected in production.',
  }),
});

/** The variables, of which some are refused in production. */
export const variables = environment.superRefine(refuseInProduction);

/** Refuses in production the variables that are for tests or for a local service. */
function refuseInProduction(values: Values, context: z.RefinementCtx): void {
  if (values.NODE_ENV !== 'production') return;
  const { WEIR_TEST_DIAL_MAP, WEIR_TEST_WORKFLOW_BUNDLE, WEIR_WEBHOOK_LISTENERS } = values;
  const refused = { WEIR_TEST_DIAL_MAP, WEIR_TEST_WORKFLOW_BUNDLE, WEIR_WEBHOOK_LISTENERS };
  const message = 'must not be set in production: it is for tests or a local service';
  for (const [name, value] of Object.entries(refused))
    if (value) context.addIssue({ code: 'custom', path: [name], message });
}

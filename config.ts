// Every environment variable of the service, read once. docs/operating.md lists the same.
import { availableParallelism } from 'node:os';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import {
  count,
  countOrNone,
  dialMap,
  encryptionKeys,
  origins,
  port,
  price,
  proxyUrl,
  rateLimit,
} from './config/values.ts';
import type { EncryptionKey } from './db/encrypt.ts';
import type { DialMap } from './net/resolve-public.ts';

const MODELS_REFRESH_MAX_MINUTES = 7 * 24 * 60;
const PROXIES_MAX = 10;
const RETENTION_MAX_DAYS = 36_500;

const environment = z.object({
  /** `production` loads the workflow bundle that `npm run bundle` wrote, where there is one. */
  NODE_ENV: z.enum(['production', 'development', 'test']).default('development'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** Most connections each process opens to PostgreSQL. */
  WEIR_DATABASE_CONNECTIONS: count.default(20),
  /** At least 32 characters; API key secrets are stored as HMAC-SHA256 under it. */
  WEIR_API_KEY_PEPPER: z.string().min(32),
  /** Secrets are stored encrypted under the first key, and readable under all; e.g. `2026:` and `openssl rand -base64 32`. */
  WEIR_SECRETS_KEYS: encryptionKeys,
  WEIR_HOST: z.string().default('127.0.0.1'),
  WEIR_PORT: port.default(8787),
  /** Where callers reach the API, without a trailing slash; http://WEIR_HOST:WEIR_PORT when absent. */
  WEIR_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The OpenID Connect issuer whose JWTs are accepted, exactly as its discovery document says; none when absent. */
  WEIR_OIDC_ISSUER: z.url({ protocol: /^https?$/ }).optional(),
  /** `aud` of JWTs for management and execution; <public url>/api/v1 when absent. */
  WEIR_OIDC_AUDIENCE: z.string().min(1).optional(),
  /** `aud` of JWTs for MCP; <public url>/api/v1/mcp/ when absent. */
  WEIR_MCP_AUDIENCE: z.string().min(1).optional(),
  /** Origins, comma-separated, whose web pages may use MCP, beside that of WEIR_PUBLIC_URL. */
  WEIR_MCP_ALLOWED_ORIGINS: origins.default([]),
  /** Temporal task queue of flow runs. */
  WEIR_TASK_QUEUE: z.string().min(1).default('weir-flows'),
  /** Processes kept for user code. */
  WEIR_SANDBOX_PROCESSES: count.default(availableParallelism()),
  /** Processes beside these for organizations whose code runs nowhere else in the worker. */
  WEIR_SANDBOX_RESERVE: countOrNone.default(8),
  /** Credits per second of processor time that code blocks take; 0: they are free. */
  WEIR_CODE_PRICE: price.default(0),
  /** Model calls one worker makes at a time. */
  WEIR_MODEL_CONCURRENCY: count.default(100),
  /** Webhook attempts one worker makes at a time. */
  WEIR_WEBHOOK_CONCURRENCY: count.default(500),
  /** Path of a PEM file: authorities of receivers' certificates, beside those that Node.js knows. */
  WEIR_WEBHOOK_CA_FILE: z.string().optional(),
  /** `http://[user:password@]host:port` of the proxy that webhooks go through. */
  WEIR_EGRESS_PROXY: proxyUrl.optional(),
  /** Path of a JSON file merged over models/models.json. */
  WEIR_MODELS_FILE: z.string().optional(),
  /** Where a JSON file is fetched from that is merged over both. */
  WEIR_MODELS_URL: z
    .url({ protocol: /^https?$/ })
    .refine((url) => !/\/\/[^/?#]*@/.test(url), { error: 'takes no user name or password' })
    .optional(),
  /** Minutes between two looks at it. */
  WEIR_MODELS_REFRESH: count.max(MODELS_REFRESH_MAX_MINUTES).default(60),
  /** Judges test cases that name no model, provider-prefixed. */
  WEIR_JUDGE_MODEL: z.string().min(1).optional(),
  /** Requests per minute that one API key may send, over all API processes; 0: no limit. */
  WEIR_RATE_LIMIT_PER_KEY: rateLimit.default(60_000),
  /** The same for all API keys of an organization together. */
  WEIR_RATE_LIMIT_PER_ORGANIZATION: rateLimit.default(300_000),
  /** Invalid keys and tokens per minute that one address may send to each API process; 0: any number. */
  WEIR_FAILED_SIGN_INS: rateLimit.default(600),
  /** Proxies in front of the API, each of which appends to X-Forwarded-For; 0: addresses are those of connections. */
  WEIR_PROXIES: z.coerce.number().int().min(0).max(PROXIES_MAX).default(0),
  /** Days after which what has ended is deleted; everything is kept when absent. */
  WEIR_RETENTION_DAYS: count.max(RETENTION_MAX_DAYS).optional(),
  /** For tests: hosts of callers' URLs that are dialled elsewhere, unchecked. Refused in production. */
  WEIR_TEST_DIAL_MAP: dialMap.optional(),
});
const soundEnvironment = environment.refine(
  ({ NODE_ENV, WEIR_TEST_DIAL_MAP }) => NODE_ENV !== 'production' || WEIR_TEST_DIAL_MAP === undefined,
  { path: ['WEIR_TEST_DIAL_MAP'], message: 'is for tests: it must not be set in production' },
);

/** Where a provider prefix (`openai/…`) leads. */
export type Provider = {
  baseUrl: string;
  apiKey: string;
  /** The key is the caller's, not the service's. */
  own?: true;
};

/** Prefix → default base URL; a provider exists when its `<PREFIX>_API_KEY` or `<PREFIX>_BASE_URL` is set. */
const PROVIDERS = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta/openai',
  openrouter: 'https://openrouter.ai/api/v1',
  ollama: 'http://127.0.0.1:11434/v1',
  demo: undefined,
} as const;

export type Config = {
  production: boolean;
  databaseUrl: string;
  databaseConnections: number;
  apiKeyPepper: string;
  /** The first encrypts. */
  secretsKeys: [EncryptionKey, ...EncryptionKey[]];
  host: string;
  port: number;
  publicUrl: string | undefined;
  /** Whose JWTs are accepted; undefined: API keys only. */
  oidc: { issuer: string; audience: string; mcpAudience: string } | undefined;
  /** Where MCP is served, with the slash at its end, and whose web pages may use it. */
  mcp: { url: string; allowedOrigins: string[] };
  /** From TEMPORAL_ADDRESS and Temporal's other standard variables, or its configuration file. */
  temporal: ReturnType<typeof loadClientConnectConfig>;
  taskQueue: string;
  sandboxProcesses: number;
  sandboxReserve: number;
  /** Credits per second of processor time. */
  codePrice: number;
  modelConcurrency: number;
  webhookConcurrency: number;
  webhookCaFile: string | undefined;
  egressProxy: URL | undefined;
  modelsFile: string | undefined;
  modelsUrl: string | undefined;
  modelsRefreshMinutes: number;
  judgeModel: string | undefined;
  /** Requests per minute; 0: no limit. */
  rateLimitPerKey: number;
  rateLimitPerOrganization: number;
  /** Per minute and address; 0: no limit. */
  failedSignInsPerMinute: number;
  proxies: number;
  retentionDays: number | undefined;
  dialMap: DialMap | undefined;
  providers: Record<string, Provider>;
  /** Where keys that callers bring may be sent: providers that are configured, or public. */
  providerUrls: Record<string, string>;
};

/** Reads the configuration; throws an Error that names every variable that is missing or wrong. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const parsed = soundEnvironment.safeParse(env, {
    error: (issue) => (issue.input === undefined ? 'is not set' : undefined),
  });
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`The configuration is not complete:\n${problems.join('\n')}`);
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
    publicUrl: publicUrlOf(values),
    oidc: readOidc(values),
    mcp: readMcp(values),
    temporal: loadClientConnectConfig({ overrideEnvVars: env as Record<string, string> }),
    taskQueue: values.WEIR_TASK_QUEUE,
    sandboxProcesses: values.WEIR_SANDBOX_PROCESSES,
    sandboxReserve: values.WEIR_SANDBOX_RESERVE,
    codePrice: values.WEIR_CODE_PRICE,
    modelConcurrency: values.WEIR_MODEL_CONCURRENCY,
    webhookConcurrency: values.WEIR_WEBHOOK_CONCURRENCY,
    webhookCaFile: values.WEIR_WEBHOOK_CA_FILE,
    egressProxy: values.WEIR_EGRESS_PROXY,
    modelsFile: values.WEIR_MODELS_FILE,
    modelsUrl: values.WEIR_MODELS_URL,
    modelsRefreshMinutes: values.WEIR_MODELS_REFRESH,
    judgeModel: values.WEIR_JUDGE_MODEL,
    rateLimitPerKey: values.WEIR_RATE_LIMIT_PER_KEY,
    rateLimitPerOrganization: values.WEIR_RATE_LIMIT_PER_ORGANIZATION,
    failedSignInsPerMinute: values.WEIR_FAILED_SIGN_INS,
    proxies: values.WEIR_PROXIES,
    retentionDays: values.WEIR_RETENTION_DAYS,
    dialMap: values.WEIR_TEST_DIAL_MAP,
    providers: readProviders(env),
    providerUrls: readProviderUrls(env),
  };
}

type Values = z.infer<typeof environment>;

function publicUrlOf(values: Values): string | undefined {
  return values.WEIR_PUBLIC_URL?.replace(/\/+$/, '');
}

function baseUrlOf(values: Values): string {
  const host = values.WEIR_HOST.includes(':') ? `[${values.WEIR_HOST}]` : values.WEIR_HOST;
  return publicUrlOf(values) ?? `http://${host}:${values.WEIR_PORT}`;
}

/** An audience that is a URL of the endpoint says where it is reached, unless WEIR_PUBLIC_URL does. */
function readMcp(values: Values): Config['mcp'] {
  const audience = values.WEIR_MCP_AUDIENCE ?? '';
  const isUrl = /^https?:\/\/\S+\/api\/v1\/mcp\/?$/.test(audience) && URL.canParse(audience);
  const known = isUrl && values.WEIR_PUBLIC_URL === undefined;
  const url = known ? audience.replace(/\/?$/, '/') : `${baseUrlOf(values)}/api/v1/mcp/`;
  return { url, allowedOrigins: [new URL(url).origin, ...values.WEIR_MCP_ALLOWED_ORIGINS] };
}

function readOidc(values: Values): Config['oidc'] {
  const issuer = values.WEIR_OIDC_ISSUER;
  if (!issuer) return undefined;
  const { protocol, hostname } = new URL(issuer);
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol === 'http:' && !local && values.NODE_ENV === 'production')
    throw new Error(`WEIR_OIDC_ISSUER: ${issuer} must be https: its keys decide who is let in.`);
  const base = baseUrlOf(values);
  const audience = values.WEIR_OIDC_AUDIENCE ?? `${base}/api/v1`;
  const mcpAudience = values.WEIR_MCP_AUDIENCE ?? `${base}/api/v1/mcp/`;
  if (audience.replace(/\/$/, '') === mcpAudience.replace(/\/$/, ''))
    throw new Error('WEIR_OIDC_AUDIENCE and WEIR_MCP_AUDIENCE must differ: a token is for one of them.');
  return { issuer, audience, mcpAudience };
}

function readProviderUrls(env: NodeJS.ProcessEnv): Record<string, string> {
  const urls: Record<string, string> = {};
  for (const [prefix, defaultUrl] of Object.entries(PROVIDERS)) {
    const baseUrl = env[`${prefix.toUpperCase()}_BASE_URL`] ?? defaultUrl;
    const configured = env[`${prefix.toUpperCase()}_BASE_URL`] || baseUrl?.startsWith('https:');
    if (configured && baseUrl) urls[prefix] = baseUrl;
  }
  return urls;
}

function readProviders(env: NodeJS.ProcessEnv): Record<string, Provider> {
  const providers: Record<string, Provider> = {};
  for (const [prefix, defaultUrl] of Object.entries(PROVIDERS)) {
    const apiKey = env[`${prefix.toUpperCase()}_API_KEY`];
    const baseUrl = env[`${prefix.toUpperCase()}_BASE_URL`] ?? defaultUrl;
    const configured = apiKey || env[`${prefix.toUpperCase()}_BASE_URL`];
    if (configured && baseUrl) providers[prefix] = { baseUrl, apiKey: apiKey || 'none' };
  }
  return providers;
}

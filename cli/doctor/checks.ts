// The checks of `weir doctor`: those of /readyz, by the same functions, and what else the configuration names.
import { Client, Connection } from '@temporalio/client';
import { fetchKeys } from '../../api/auth/identity-provider.ts';
import { connect, type Db } from '../../db/connect.ts';
import { NO_ROOM, NOT_MIGRATED, READ_ONLY, STANDBY } from '../../db/connection/find-write-refusal.ts';
import { FREE_CONNECTIONS } from '../../db/connection/free-connections.ts';
import { listReleaseMigrations } from '../../db/list-migrations.ts';
import { findLastModelCalls, LAST_CALLS_MINUTES } from '../../db/runs/find-last-model-calls.ts';
import { isRecordedPepper } from '../../db/tenants/api-key-pepper.ts';
import { requireModelKeysReadable } from '../../db/tenants/model-keys.ts';
import { requireSigningSecretsReadable } from '../../db/webhooks/webhook-secrets.ts';
import { webhookTaskQueue } from '../../flow/delivery.ts';
import { SEARCH_ATTRIBUTES } from '../../flow/run.ts';
import { type Config, DEFAULT_ADDRESS } from '../../platform/config/config.ts';
import { listingUrl, type Provider, settingsOf } from '../../platform/config/providers.ts';
import { openObjectStore } from '../../platform/object-store/open-object-store.ts';
import { createEncryption, SecretUnreadable } from '../../platform/secrets/encrypt.ts';
import {
  findLackOfWorkers,
  lookAtDependencies,
  NO_ATTRIBUTES,
  NO_CONNECTION,
} from '../../worker/health-check.ts';
import { type Check, describe, type Finding, failure, ok, warning } from './finding.ts';

const TIMEOUT_MS = 5_000;

const MEND_DATABASE: { [reason: string]: string } = {
  [NOT_MIGRATED]: 'In Docker Compose: docker compose run --rm migrate.',
  [NO_ROOM]: 'Free or add disk space.',
  [STANDBY]: 'Connect to the primary: correct DATABASE_URL.',
  [READ_ONLY]:
    'Reset it where it is set: alter system, alter database, alter role (reset default_transaction_read_only), or the options of DATABASE_URL.',
  [NO_CONNECTION]: `To free connections, ${FREE_CONNECTIONS}.`,
};

const ATTRIBUTES = Object.entries(SEARCH_ATTRIBUTES)
  .map(([name, type]) => `${name} (${type})`)
  .join(', ');
const ADDRESS = 'DATABASE_URL (and PGPASSWORD, where it holds the password)';
const MEND_OBJECTS =
  'Correct WEIR_OBJECT_STORE, WEIR_OBJECT_STORE_ENDPOINT, AWS_REGION or the credentials, or start the store.';
const MEND_SECRETS =
  'Set WEIR_SECRETS_KEYS to the keys that the stored secrets were made with, in every process: docs/operating/secrets.md.';

const OTHER_PEPPER = 'WEIR_API_KEY_PEPPER is not the pepper that API keys were made with: all are refused.';
const MEND_PEPPER = 'Set it to that value in every process. To change it: docs/operating/secrets.md.';

/** Lists the checks of a service with this configuration. */
export function checksOf(config: Config): Check[] {
  return [
    { name: 'readiness', look: () => checkReadiness(config) },
    { name: 'secrets', look: () => onDatabase(config.databaseUrl, (db) => checkSecrets(db, config)) },
    { name: 'identity', look: () => checkIdentity(config) },
    { name: 'models', look: () => checkModels(config) },
    { name: 'models', look: () => onDatabase(config.databaseUrl, (db) => checkCalls(db, config)) },
  ];
}

/** Checks the parts of /readyz: database, engine, workers and object store. */
async function checkReadiness(config: Config, timeoutMs = TIMEOUT_MS): Promise<Finding[]> {
  const { namespace, connectionOptions } = config.temporal;
  const objects = await openObjectStore(config.objectStore);
  const db = connect(config.databaseUrl, 1, timeoutMs, objects);
  const connection = Connection.lazy({ ...connectionOptions, connectTimeout: timeoutMs });
  const client = new Client({ connection, namespace });
  try {
    const migrations = listReleaseMigrations();
    const { away, done } = lookAtDependencies({ config, client, db, migrations }, timeoutMs);
    const webhooks = webhookTaskQueue(config.taskQueue);
    const [lackOfDeliverers] = await Promise.all([
      // An engine that is away is reported as such.
      findLackOfWorkers(client, webhooks, timeoutMs).catch(() => undefined),
      done,
    ]);
    const host = new URL(config.databaseUrl).host || 'localhost';
    const engine = `Temporal at ${connectionOptions.address ?? DEFAULT_ADDRESS}`;
    const mendDatabase =
      MEND_DATABASE[away.database ?? ''] ?? `Start it, or correct ${ADDRESS}. Its log may say more.`;
    const mendEngine =
      away.engine === NO_ATTRIBUTES
        ? `A worker adds them when it starts. On Temporal Cloud, add them yourself: ${ATTRIBUTES}.`
        : 'Start it, or correct TEMPORAL_ADDRESS and the other TEMPORAL_ variables. Its log may say more.';
    const findings = [
      part(
        'database',
        `PostgreSQL at ${host}`,
        away.database,
        'is up to date and accepts writes',
        mendDatabase,
      ),
      part('engine', engine, away.engine, `serves the namespace ${namespace}`, mendEngine),
    ];
    if (away.engine === undefined)
      findings.push(
        describeWorkers(config.taskQueue, 'flows', away.workers),
        describeWorkers(webhooks, 'webhooks', lackOfDeliverers),
      );
    if (config.objectStore) {
      const store = `The object store (bucket ${config.objectStore.bucket})`;
      findings.push(part('objects', store, away.objects, 'can be used', MEND_OBJECTS));
    }
    return findings;
  } finally {
    connection.close().catch(() => undefined);
    db.destroy().catch(() => undefined);
    objects?.close();
  }
}

function part(
  check: string,
  subject: string,
  away: string | undefined,
  works: string,
  mend: string,
): Finding {
  return away === undefined ? ok(check, `${subject} ${works}.`) : failure(check, `${subject} ${away}.`, mend);
}

function describeWorkers(taskQueue: string, role: 'flows' | 'webhooks', lack: string | undefined): Finding {
  if (!lack) return ok('workers', `Workers ask for work on ${taskQueue}.`);
  const waiting = role === 'flows' ? 'runs' : 'webhook deliveries';
  return failure(
    'workers',
    `On the task queue ${taskQueue}, ${lack}: ${waiting} wait.`,
    lack.includes('version')
      ? 'Set the version of the running workers as current and end the ramp, or start workers of the version named: docs/operating/worker-versions.md.'
      : `Start a worker (npm run worker) whose WEIR_WORKER_ROLES has ${role} or is not set, with this WEIR_TASK_QUEUE and namespace. If one runs, look at its log.`,
  );
}

/** Finds stored secrets that WEIR_SECRETS_KEYS does not decrypt, by one of each key, and another WEIR_API_KEY_PEPPER. */
async function checkSecrets(db: Db, { secretsKeys, apiKeyPepper }: Config): Promise<Finding[]> {
  const encryption = createEncryption(secretsKeys);
  const reading = [requireModelKeysReadable(db, encryption), requireSigningSecretsReadable(db, encryption)];
  const [isRecorded, ...read] = await Promise.all([
    isRecordedPepper(db, apiKeyPepper).catch(() => undefined),
    ...reading.map((secrets) => secrets.catch((error: unknown) => error)),
  ]);
  const unreadable = read.flatMap((error) =>
    error instanceof SecretUnreadable ? [failure('secrets', `${describe(error)}.`, MEND_SECRETS)] : [],
  );
  if (isRecorded === false) unreadable.push(failure('secrets', OTHER_PEPPER, MEND_PEPPER));
  return unreadable;
}

/** Calls `look` with a connection. Finds nothing where the database is away or lacks the tables: it is reported as such. */
async function onDatabase(databaseUrl: string, look: (db: Db) => Promise<Finding[]>): Promise<Finding[]> {
  const db = connect(databaseUrl, 1, TIMEOUT_MS);
  const found = await look(db).catch(() => []);
  db.destroy().catch(() => undefined);
  return found;
}

/** Checks whether users' tokens can be checked: by the issuer's discovery document and its keys. */
export async function checkIdentity({ oidc }: Pick<Config, 'oidc'>): Promise<Finding[]> {
  if (!oidc)
    return [
      warning(
        'identity',
        'No identity provider is configured: only API keys are accepted.',
        'Set WEIR_OIDC_ISSUER, unless no user is to sign in.',
      ),
    ];
  const { issuer, audience, mcpAudience } = oidc;
  try {
    await fetchKeys(issuer);
    return [ok('identity', `${issuer} answers. Tokens are for ${audience} or, over MCP, ${mcpAudience}.`)];
  } catch (error) {
    return [
      failure(
        'identity',
        `The identity provider ${issuer} cannot be used: ${describe(error)}.`,
        'Start it, or set WEIR_OIDC_ISSUER to the issuer exactly as its discovery document has it.',
      ),
    ];
  }
}

/** Checks whether the model providers answer. Sends no key, and calls no model. */
export async function checkModels({ providers }: Pick<Config, 'providers'>): Promise<Finding[]> {
  const found = await Promise.all(Object.values(providers).map(checkProvider));
  const findings = found.filter((finding) => finding !== undefined);
  if (findings.length === 0)
    return [
      warning(
        'models',
        'No model provider is configured: llm blocks need keys of organizations or callers.',
        'Set OPENAI_API_KEY or another provider’s key.',
      ),
    ];
  return findings;
}

/** Returns undefined for a server that nobody configured and that does not run. */
async function checkProvider(provider: Provider): Promise<Finding | undefined> {
  const { name, unconfigured } = provider;
  const { address: setting } = settingsOf(provider);
  const origin = URL.parse(provider.baseUrl)?.origin ?? 'its address';
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(listingUrl(provider), { redirect: 'manual', signal });
    await answer.body?.cancel();
    if (answer.status !== 404) return ok('models', `${name} answers at ${origin}.`);
    const nothing = `${name} answers at ${origin}, but has nothing at the path of its base URL (404).`;
    return warning('models', nothing, `Correct ${setting}: it mostly ends with /v1.`);
  } catch (error) {
    if (unconfigured) return undefined;
    const away = `${name} does not answer at ${origin}: ${describe(error)}.`;
    return failure('models', away, `Correct ${setting}, or let this machine reach it.`);
  }
}

/** Says how many of each provider's last calls failed, and with what; an error when half of them did. */
async function checkCalls(db: Db, { providers }: Config): Promise<Finding[]> {
  const last = await findLastModelCalls(db);
  return [...new Set([...Object.keys(providers), ...last.map(({ provider }) => provider)])].map((name) => {
    const found = last.find(({ provider }) => provider === name);
    const minutes = `in the last ${LAST_CALLS_MINUTES} minutes`;
    if (!found) return ok('models', `No call of ${name} ended ${minutes}.`);
    const { calls, failed, ofProvider, reasons } = found;
    const message = `${failed} of the last ${calls} calls of ${name} ${minutes} failed${reasons ? `: ${reasons}` : ''}.`;
    if (ofProvider === 0) return ok('models', message);
    const mend =
      found.worst === 'MODEL_UNAVAILABLE'
        ? 'See docs/operating/alerts.md: WeirModelsFail and WeirModelsSilent.'
        : `Correct ${settingsOf(providers[name] ?? { name }).key} or its base URL, or add to the quota of the account.`;
    return (2 * ofProvider >= calls ? failure : warning)('models', message, mend);
  });
}

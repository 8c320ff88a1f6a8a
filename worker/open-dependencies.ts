// Opens the connections that every process of the service needs, whether it runs the API, the worker or both.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { sql } from 'kysely';
import { connect, type Db, QUERY_TIMEOUT_MS } from '../db/connect.ts';
import { findWriteRefusal, NOT_MIGRATED } from '../db/connection/find-write-refusal.ts';
import { createFlowDefinitions, type FlowDefinitions } from '../db/flows/flow-definitions.ts';
import { listReleaseMigrations } from '../db/list-migrations.ts';
import { createNotifications, type Notifications } from '../db/notifications.ts';
import { recordFirstPepper } from '../db/tenants/api-key-pepper.ts';
import { requireModelKeysReadable } from '../db/tenants/model-keys.ts';
import { requireSigningSecretsReadable } from '../db/webhooks/webhook-secrets.ts';
import type { Config } from '../platform/config/config.ts';
import { createLargeValues, type LargeValues } from '../platform/large-values/large-values.ts';
import { type LiveRegistry, openRegistry } from '../platform/models/live-registry.ts';
import { openObjectStore } from '../platform/object-store/open-object-store.ts';
import { log } from '../platform/observability/log.ts';
import { createEncryption, SecretUnreadable } from '../platform/secrets/encrypt.ts';
import { connectToTemporal, createClient } from '../temporal/connect.ts';
import { createHealthCheck, type HealthCheck } from './health-check.ts';

const DATABASE_RETRY_INTERVAL_MS = 2_000;
const TIMEOUT_MS = 5_000;

const ASK_AGAIN_MS = 5_000;

export type Dependencies = {
  config: Config;
  /** The connection to Temporal that `client` uses and workers run on. */
  connection: NativeConnection;
  client: Client;
  db: Db;
  definitions: FlowDefinitions;
  registry: LiveRegistry;
  notifications: Notifications;
  largeValues: LargeValues;
  health: HealthCheck;
  /** Closes everything above. The API must have drained and the worker must have ended by then. */
  close(): Promise<void>;
};

/**
 * Connects to what the configuration names. A process that neither accepts nor runs flows needs no `models` kept current.
 * Throws an Error that says what does not answer.
 */
export async function openDependencies(config: Config, { models = true } = {}): Promise<Dependencies> {
  const connection = await connectToTemporal(config);
  const objects = await openObjectStore(config.objectStore);
  const db = connect(config.databaseUrl, config.databaseConnections, QUERY_TIMEOUT_MS, objects);
  const registry = await openRegistry(models ? config : { ...config, modelsUrl: undefined });
  const notifications = createNotifications(config.databaseUrl);
  const largeValues = createLargeValues();
  const client = createClient(config, connection);
  const health = createHealthCheck({ config, client, db });
  const closing = new AbortController();
  void logWrongSecrets(db, config, closing.signal);
  return {
    config,
    connection,
    client,
    db,
    definitions: createFlowDefinitions(db),
    registry,
    notifications,
    largeValues,
    health,
    async close() {
      closing.abort();
      health.close();
      registry.close();
      await largeValues.close();
      await notifications.close();
      await db.destroy();
      objects?.close();
      await connection.close();
    },
  };
}

/**
 * Logs an error when WEIR_SECRETS_KEYS or WEIR_API_KEY_PEPPER does not fit the database: decrypts one secret of each key, and
 * compares the pepper with the recorded one, or records the first. While the database is away, tries again until `signal`
 * aborts; other code logs the outage. The process starts all the same: users' tokens, runs under way and other organizations'
 * secrets work, and a change of the pepper begins with one more API that has the new one.
 */
export async function logWrongSecrets(
  db: Db,
  { secretsKeys, apiKeyPepper }: Pick<Config, 'secretsKeys' | 'apiKeyPepper'>,
  signal?: AbortSignal,
): Promise<void> {
  const encryption = createEncryption(secretsKeys);
  await Promise.all([
    untilAnswered(signal, async () => {
      if (!(await recordFirstPepper(db, apiKeyPepper)))
        log.error(
          'WEIR_API_KEY_PEPPER is not the pepper that API keys were made with: this process refuses them all. Set it to that value.',
        );
    }),
    untilAnswered(signal, async () => {
      try {
        await requireModelKeysReadable(db, encryption);
        await requireSigningSecretsReadable(db, encryption);
      } catch (error) {
        if (!(error instanceof SecretUnreadable)) throw error;
        log.error(
          { reason: error.message },
          'WEIR_SECRETS_KEYS does not fit the stored secrets: webhooks and models that need them wait or fail. Set it to the keys that they were made with.',
        );
      }
    }),
  ]);
}

/** Repeats `look` until it does not reject, or `signal` aborts. */
async function untilAnswered(signal: AbortSignal | undefined, look: () => Promise<void>): Promise<void> {
  while (!signal?.aborted)
    try {
      return await look();
    } catch {
      await sleep(ASK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
}

/**
 * Resolves once the database answers and is migrated, or the signal aborts. A worker that polled earlier, for example with a
 * wrong password, would block work of other workers. The pool logs an outage of the database, and the health check its cause.
 */
export async function untilDatabaseIsReady(
  db: Db,
  { databaseUrl }: { databaseUrl: string },
  signal?: AbortSignal,
): Promise<void> {
  const migrations = await listReleaseMigrations();
  while (!signal?.aborted) {
    try {
      await sql`select 1`.execute(db);
      if ((await findWriteRefusal(databaseUrl, TIMEOUT_MS, migrations)) !== NOT_MIGRATED) return;
    } catch {
      // It is asked again.
    }
    await sleep(DATABASE_RETRY_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

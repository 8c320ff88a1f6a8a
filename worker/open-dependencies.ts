// Opens the connections that every process of the service needs, whether it runs the API, the worker or both.
import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { createRequestModelKeys, type RequestModelKeys } from '../activities/request-model-keys.ts';
import { connect, type Db, QUERY_TIMEOUT_MS } from '../db/connect.ts';
import { createFlowDefinitions, type FlowDefinitions } from '../db/flows/flow-definitions.ts';
import { createNotifications, type Notifications } from '../db/notifications.ts';
import type { Config } from '../platform/config/config.ts';
import { createLargeValues, type LargeValues } from '../platform/large-values/large-values.ts';
import { type LiveRegistry, openRegistry } from '../platform/models/live-registry.ts';
import { openObjectStore } from '../platform/object-store/open-object-store.ts';
import { connectToTemporal, createClient } from '../temporal/connect.ts';
import { createHealthCheck, type HealthCheck } from './health-check.ts';
import { logUnreadableSecrets } from './tell-unreadable-secrets.ts';

export type Dependencies = {
  config: Config;
  /** The connection to Temporal that `client` uses and workers run on. */
  connection: NativeConnection;
  client: Client;
  db: Db;
  definitions: FlowDefinitions;
  registry: LiveRegistry;
  notifications: Notifications;
  requestModelKeys: RequestModelKeys;
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
  const requestModelKeys = createRequestModelKeys(db, notifications, config);
  const largeValues = createLargeValues();
  const client = createClient(config, connection);
  const health = createHealthCheck({ config, client, db });
  const closing = new AbortController();
  void logUnreadableSecrets(db, config, closing.signal);
  return {
    config,
    connection,
    client,
    db,
    definitions: createFlowDefinitions(db, largeValues.work),
    registry,
    notifications,
    requestModelKeys,
    largeValues,
    health,
    async close() {
      closing.abort();
      health.close();
      registry.close();
      await largeValues.close();
      // Needs the database to hand its keys to other processes.
      await requestModelKeys.close();
      await notifications.close();
      await db.destroy();
      objects?.close();
      await connection.close();
    },
  };
}

import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Config } from '../config.ts';
import { compressPayloads } from './compress-payloads.ts';

export const DEFAULT_NAMESPACE = 'default';
/** Of every client and worker. */
export const DATA_CONVERTER = { payloadCodecs: [compressPayloads] };

/** A connection to the configured Temporal server, for clients and workers alike; the error names the address. */
export async function connectToTemporal({ temporal }: Config): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(temporal.connectionOptions);
  } catch (error) {
    const address = temporal.connectionOptions.address ?? 'localhost:7233';
    throw new Error(`Temporal does not answer at ${address}: ${String(error)}`, { cause: error });
  }
}

/** A client of the configured namespace. */
export function createClient({ temporal }: Config, connection: NativeConnection): Client {
  return new Client({
    connection,
    namespace: temporal.namespace ?? DEFAULT_NAMESPACE,
    dataConverter: DATA_CONVERTER,
  });
}

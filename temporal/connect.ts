// temporal/ is the client side of Temporal: it connects, and starts, cancels and awaits the workflows of runs, test runs
// and deliveries, whose rows are stored already. What the engine misses, the reconciler repeats.
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { type Config, DEFAULT_ADDRESS } from '../platform/config/config.ts';
import { isTracing } from '../platform/observability/tracing.ts';
import { createDataConverter } from './data-converter.ts';
import { describeConnectError } from './describe-connect-error.ts';
import { traceStarts } from './trace-starts.ts';

/** Connects to the configured Temporal server, for clients and workers alike. The error names the address. */
export async function connectToTemporal({ temporal }: Config): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(temporal.connectionOptions);
  } catch (error) {
    const address = temporal.connectionOptions.address ?? DEFAULT_ADDRESS;
    throw new Error(
      `Temporal does not answer at ${address} (TEMPORAL_ADDRESS): ${describeConnectError(error)}.`,
      { cause: error },
    );
  }
}

/** Creates a client for the configured namespace. */
export function createClient(config: Config, connection: NativeConnection): Client {
  return new Client({
    connection,
    namespace: config.temporal.namespace,
    dataConverter: createDataConverter(config),
    ...(isTracing() && { interceptors: { workflow: [traceStarts] } }),
  });
}

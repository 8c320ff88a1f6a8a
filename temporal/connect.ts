// temporal/ is the client side of Temporal: it connects, and starts, cancels and awaits the workflows of runs, test runs
// and deliveries, whose rows are stored already. What the engine misses, the reconciler repeats.
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { TRACE_HEADER } from '../flow/trace-header.ts';
import { type Config, DEFAULT_ADDRESS } from '../platform/config/config.ts';
import { currentTrace, inSpan, isTracing } from '../platform/observability/tracing.ts';
import { createDataConverter } from './data-converter.ts';

/** Hands the current trace to the workflows that a client starts. */
const traceStarts: WorkflowClientInterceptor = {
  startWithDetails: (input, next) =>
    inSpan(
      `StartWorkflow:${input.workflowType}`,
      { kind: 'CLIENT', attributes: { 'temporal.workflow.id': input.options.workflowId } },
      async (span) => {
        const trace = currentTrace();
        if (!trace) return next(input);
        const headers = { ...input.headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(trace) };
        const started = await next({ ...input, headers });
        span.set({ 'temporal.run.id': started.runId });
        return started;
      },
    ),
};

/** Parts of the native client's errors, which are debug output of Rust, and what each says. */
const REASONS: [RegExp, string][] = [
  [
    /InvalidContentType/,
    'it does not speak TLS: unset TEMPORAL_TLS, TEMPORAL_API_KEY and the other TEMPORAL_TLS_ variables, or correct the address',
  ],
  [/ConnectionRefused/, 'the connection was refused'],
  [/dns error/, 'its host cannot be resolved'],
  [/ConnectionReset|BrokenPipe/, 'the connection was broken off: does it ask for TLS (TEMPORAL_TLS)?'],
];

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

/** Describes in words why Temporal could not be connected to, as the end of a sentence without a full stop. */
function describeConnectError(error: unknown): string {
  const text = String(error);
  return REASONS.find(([of]) => of.test(text))?.[1] ?? text;
}

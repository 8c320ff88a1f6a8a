import * as api from '@opentelemetry/api';
import { core, NodeSDK, tracing } from '@opentelemetry/sdk-node';
import { DETECTORS, logDiagnostics, nameProcess, waitForShutdown } from './open-telemetry.ts';
import { type TraceContext, useTracing } from './tracing.ts';

/** The traces of a process, to be shut down when it ends. */
export type RunningTraces = {
  /** Turns tracing off, and sends what has not been sent yet, for 5 s at most; never rejects. */
  shutdown(): Promise<void>;
};

const w3c = new core.W3CTraceContextPropagator();

/** Opens OpenTelemetry's SDK for traces, which reads its `OTEL_*` variables itself. Whatever fails later is only logged. */
export function openTelemetrySdk(service: string): RunningTraces {
  const random = new tracing.RandomIdGenerator();
  let givenId: string | undefined;
  const sdk = new NodeSDK({
    resource: nameProcess(service),
    ...(!process.env.OTEL_NODE_RESOURCE_DETECTORS && { resourceDetectors: DETECTORS }),
    // Baggage of callers is not for others to read, unless the variable asks for it.
    ...(!process.env.OTEL_PROPAGATORS && { textMapPropagator: w3c }),
    idGenerator: {
      generateTraceId: random.generateTraceId,
      generateSpanId: () => givenId ?? random.generateSpanId(),
    },
    metricReaders: [],
    logRecordProcessors: [],
  });
  logDiagnostics();
  sdk.start();
  useTracing({
    api,
    tracer: api.trace.getTracer('weir'),
    carrier: { extract: (trace) => w3c.extract(api.ROOT_CONTEXT, trace, api.defaultTextMapGetter), inject },
    withSpanId(id, start) {
      givenId = id;
      try {
        return start();
      } finally {
        givenId = undefined;
      }
    },
  });
  return {
    async shutdown() {
      useTracing(undefined);
      await waitForShutdown(sdk.shutdown().catch((error: unknown) => api.diag.error(String(error))));
      for (const one of [api.trace, api.context, api.propagation, api.diag]) one.disable();
    },
  };
}

function inject(context: api.Context): TraceContext {
  const trace: Partial<TraceContext> = {};
  w3c.inject(context, trace, api.defaultTextMapSetter);
  return trace as TraceContext;
}

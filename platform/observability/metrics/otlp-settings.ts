type Env = { [name: string]: string | undefined };

type OtlpProtocol = 'grpc' | 'http/json' | 'http/protobuf';

/** Whether the standard variables name somewhere to send metrics to. */
export function hasOtlp(env: Env): boolean {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return false;
  const exporters = env.OTEL_METRICS_EXPORTER?.trim();
  if (exporters) return exporters.split(',').some((exporter) => exporter.trim() === 'otlp');
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT);
}

/** Reads the protocol. An unknown protocol counts as `http/protobuf`, the default. */
export function otlpProtocol(env: Env): OtlpProtocol {
  const given = (env.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL)?.trim();
  return given === 'grpc' || given === 'http/json' ? given : 'http/protobuf';
}

/** Returns the URL that metrics are sent to. */
export function otlpUrl(env: Env): string {
  const isGrpc = otlpProtocol(env) === 'grpc';
  if (env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT) return env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT || `http://localhost:${isGrpc ? 4317 : 4318}`;
  return isGrpc ? base : `${base.replace(/\/$/, '')}/v1/metrics`;
}

/** Reads headers as `name=value,…`, percent-encoded. */
export function otlpHeaders(env: Env): { [name: string]: string } {
  const both = [env.OTEL_EXPORTER_OTLP_HEADERS, env.OTEL_EXPORTER_OTLP_METRICS_HEADERS];
  const pairs = both.flatMap((text) => text?.split(',') ?? []).map((pair) => pair.split(/=(.*)/s));
  return Object.fromEntries(
    pairs
      .filter(([name = '', value]) => name.trim() !== '' && value !== undefined)
      .map(([name = '', value = '']) => [name.trim(), decode(value.trim())]),
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads the milliseconds of a variable; `otherwise` where it is not set, or not a positive number. */
export function otlpMilliseconds(text: string | undefined, otherwise: number): number {
  const value = Number(text);
  return text && Number.isFinite(value) && value > 0 ? value : otherwise;
}

export const EXPORT_INTERVAL_MS = 60_000;

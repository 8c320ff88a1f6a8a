// The metrics of Temporal's SDK, which its native core keeps itself: slots, pollers, schedule-to-start latencies, requests.
import { request } from 'node:http';
import {
  EXPORT_INTERVAL_MS,
  hasOtlp,
  otlpHeaders,
  otlpMilliseconds,
  otlpProtocol,
  otlpUrl,
} from './otlp-settings.ts';

const LOOPBACK = '127.0.0.1';
const READ_MAX_MS = 2_000;
const ANSWER_MAX_BYTES = 16 * 1024 * 1024;

type Env = { [name: string]: string | undefined };

/** The part of the SDK's options that says what it does with its metrics. */
export type EngineMetrics =
  | {
      prometheus: {
        bindAddress: string;
        countersTotalSuffix: true;
        unitSuffix: true;
        useSecondsForDurations: true;
      };
    }
  | {
      globalTags: { [name: string]: string };
      otel: {
        url: string;
        http: boolean;
        headers: { [name: string]: string };
        metricsExportInterval: number;
        useSecondsForDurations: true;
      };
    };

/**
 * Has the SDK serve its metrics at a port of this machine, or push them; it can do one of the two. `attributes`: the names of
 * the process, with which they are pushed.
 */
export function engineMetricsOver(
  port: number | undefined,
  env: Env,
  attributes: { [name: string]: string },
): EngineMetrics | undefined {
  if (port !== undefined)
    return {
      prometheus: {
        bindAddress: `${LOOPBACK}:${port}`,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
      },
    };
  if (!hasOtlp(env)) return undefined;
  return {
    globalTags: attributes,
    otel: {
      url: otlpUrl(env),
      http: otlpProtocol(env) !== 'grpc',
      headers: otlpHeaders(env),
      metricsExportInterval: otlpMilliseconds(env.OTEL_METRIC_EXPORT_INTERVAL, EXPORT_INTERVAL_MS),
      useSecondsForDurations: true,
    },
  };
}

/** Reads what the SDK serves; '' while it does not, as before its start. */
export async function readEngineMetrics(port: number): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    const signal = AbortSignal.timeout(READ_MAX_MS);
    // Not `fetch`, which a proxy of the environment might take elsewhere.
    const asked = request({ host: LOOPBACK, port, path: '/metrics', signal }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > ANSWER_MAX_BYTES) response.destroy(new Error('The metrics of the SDK are too long.'));
        else chunks.push(chunk);
      });
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
    });
    asked.on('error', reject);
    asked.end();
  }).catch(() => '');
}

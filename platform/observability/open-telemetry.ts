// What traces and metrics share: OpenTelemetry's own diagnostics, the names of this process, and the wait at its end.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  type ResourceDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from '@opentelemetry/semantic-conventions';
import { VERSION } from '../version.ts';
import { log } from './log.ts';
import { createOnceAMinute } from './outage-log.ts';

const WAIT_MAX_MS = 5_000;

/** Without an id of its own, a process's metrics are taken for those of all processes with the same service name. */
const INSTANCE_ID = randomUUID();

/** Detects the host name only. OpenTelemetry's detector also reports the confidential machine id (machine-id(5)). */
const hostDetector: ResourceDetector = { detect: () => ({ attributes: { 'host.name': hostname() } }) };

/** Variables may name the service and the process: what a detector finds is stronger, the last one's most of all. */
export const DETECTORS = [hostDetector, envDetector];

const TEXT_MAX_CHARS = 500;

/** Has this process log what OpenTelemetry says of itself, at the level of OTEL_LOG_LEVEL. */
export function logDiagnostics(): void {
  const level = process.env.OTEL_LOG_LEVEL?.toUpperCase() as keyof typeof DiagLogLevel | undefined;
  const logLevel = (level && DiagLogLevel[level]) ?? DiagLogLevel.WARN;
  diag.setLogger(createDiagnosticsLogger(), { logLevel, suppressOverrideMessage: true });
}

/** Creates the logger of OpenTelemetry's own diagnostics: of warnings and errors, one line per minute. */
export function createDiagnosticsLogger(): DiagLogger {
  // A problem comes to light during some request, which has nothing to do with it.
  const outsideRequests = AsyncLocalStorage.snapshot();
  // An exporter that is away complains every few seconds.
  const countSuppressed = createOnceAMinute();
  const complain = (text: string) => {
    const suppressed = countSuppressed();
    if (suppressed === undefined) return;
    const fields = { suppressed, said: messageOf(text).slice(0, TEXT_MAX_CHARS) };
    outsideRequests(() => log.warn(fields, 'OpenTelemetry has a problem; traces or metrics are missing.'));
  };
  const tell = (text: string) => log.debug({ said: text.slice(0, TEXT_MAX_CHARS) }, 'OpenTelemetry says:');
  return { error: complain, warn: complain, info: tell, debug: tell, verbose: tell };
}

/** Finds the message in an error, which OpenTelemetry writes as JSON that begins with the stack. */
function messageOf(text: string): string {
  try {
    const { name, message } = JSON.parse(text) as { name?: string; message?: string };
    return message ? `${name ?? 'Error'}: ${message}` : text;
  } catch {
    return text;
  }
}

/** Names the service and the process. */
export function nameProcess(service: string): Resource {
  const names = {
    [ATTR_SERVICE_NAME]: service,
    [ATTR_SERVICE_VERSION]: VERSION,
    [ATTR_SERVICE_INSTANCE_ID]: INSTANCE_ID,
  };
  return defaultResource().merge(resourceFromAttributes(names));
}

/** Names the service, the process and its host, as variables say where they do. */
export async function detectProcess(service: string): Promise<Resource> {
  const resource = nameProcess(service).merge(detectResources({ detectors: DETECTORS }));
  await resource.waitForAsyncAttributes?.();
  return resource;
}

/** Waits for a shutdown, for 5 s at most: a receiver that is away must not keep a process from ending. */
export async function waitForShutdown(shutdown: Promise<void>): Promise<void> {
  const over = new AbortController();
  await Promise.race([
    shutdown,
    sleep(WAIT_MAX_MS, undefined, { signal: over.signal }).catch(() => undefined),
  ]).finally(() => over.abort());
}

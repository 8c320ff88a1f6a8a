// What traces and metrics share: OpenTelemetry's own diagnostics, the names of this process, and the wait at its end.
import { AsyncLocalStorage } from 'node:async_hooks';
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { log } from './log.ts';
import { createOnceAMinute } from './once-a-minute.ts';

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

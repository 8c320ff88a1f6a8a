import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import { log } from '../platform/observability/log.ts';
import type { EngineMetrics } from '../platform/observability/metrics/engine-metrics.ts';
import { createOnceAMinute } from '../platform/observability/outage-log.ts';

const TEXT_MAX_CHARS = 500;

/** A workflow task took over 5 s: those of Weir do, since blocks and model calls run inside them. */
const LONG_TASK = '[TMPRL1104]';

/** Requests that were repeated are errors for the SDK from the 16th time on. */
const RETRIES = 'temporalio_client::retry';

let installed = false;

/** Sets up Temporal's SDK in this process, once: it handles no signals, and `createEngineLog` selects its log lines. */
export function installRuntime(metrics?: EngineMetrics): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', createEngineLog()),
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      ...(metrics && { metrics }),
    },
  });
}

/**
 * Creates the writer of the SDK's lines into the log: its errors, and the warnings of its native core, such as metrics that
 * cannot be pushed. Of the warnings from one place in the core there is one a minute, and none for long workflow tasks; no
 * line of the core has fields that may hold parts of a run. The SDK's other warnings are about failed blocks and runs, which
 * are visible in the Temporal Web UI and in the run's row. `now` is in milliseconds.
 */
export function createEngineLog(now: () => number = () => performance.now()): (entry: LogEntry) => void {
  /** While the engine is away, each of many requests to it is a warning. */
  const places = new Map<string, () => number | undefined>();

  function warnNowAndThen(target: string, error: unknown, message: string): void {
    const countSuppressed = places.get(target) ?? createOnceAMinute(now);
    places.set(target, countSuppressed);
    const suppressed = countSuppressed();
    if (suppressed !== undefined) log.warn({ target, ...reasonOf(error), suppressed }, message);
  }

  return ({ level, message, meta }) => {
    const { error, ...fields } = meta ?? {};
    const isProblem = level === 'ERROR' || level === 'WARN';
    if (isProblem && fields.sdkComponent === 'core') {
      if (message.startsWith(LONG_TASK)) return;
      const target = String(fields.target);
      if (level === 'ERROR' && target !== RETRIES) log.error({ target, ...reasonOf(error) }, message);
      else warnNowAndThen(target, error, message);
    } else if (level === 'ERROR')
      // `err` is the name in all other lines.
      log.error({ ...fields, ...(error !== undefined && { err: error }) }, message);
  };
}

function reasonOf(error: unknown): { reason?: string } {
  return error === undefined ? {} : { reason: String(error).slice(0, TEXT_MAX_CHARS) };
}

import type { LogEntry } from '@temporalio/worker';
import { log } from '../observability/log.ts';

/** The levels of the log by those of the SDK. */
const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Writes a line of the engine's SDK to the log. Its `error` becomes `err`, as in all other lines. */
export function logEngineLine({ level, message, meta }: LogEntry): void {
  const { error, ...fields } = meta ?? {};
  log[LEVELS[level]]({ ...fields, ...(error !== undefined && { err: error }) }, message);
}

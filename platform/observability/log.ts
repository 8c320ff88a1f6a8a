// platform/observability/ shows operators what the service does: log lines here, spans and metrics beside them. It imports
// nothing else of the project; `biome.json` says who may import it.

import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { isatty } from 'node:tty';
import pino, { type Logger } from 'pino';
import type { prettyFactory } from 'pino-pretty';
import { traceFields } from './tracing.ts';

/** The fields that every line logged on behalf of one request, block or delivery has. Names are those of the API. */
export type LogContext = {
  /** The X-Request-Id of the request, also in what it started. */
  request_id?: string;
  organization_id?: string;
  /** The run. */
  execution_id?: string;
  /** The key of a block execution. */
  block?: string;
  delivery_id?: string;
  test_run_id?: string;
  /** The caller: the id of an API key, which is not a secret, or of a user. */
  key_id?: string;
  user_id?: string;
  /** The tool that an assistant called, and the code of the error that it was answered with. */
  tool?: string;
  code?: string;
  /** The limit that refused the request. */
  limit?: string;
  /** Why its API key was refused. */
  reason?: string;
};

const storage = new AsyncLocalStorage<LogContext>();

/** The values of WEIR_LOG_LEVEL: lines of the level and of all after it are written. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** The longest message, stack and cause of one error. */
const ERROR_MAX_CHARS = 8_000;

type Write = (line: string) => void;
let write: Write = writeTo(process.stderr.fd);

/**
 * The log of this process: one JSON object per line on standard error, readable lines on a terminal. A line has `time` (ISO
 * 8601), `level`, `msg`, the fields of its log context (`withLogContext`), and `err` (type, message, stack) where there is an
 * error. Secrets, and the content of requests and runs, are never logged.
 */
export const log: Logger = pino(
  {
    level: LOG_LEVELS.find((level) => level === process.env.WEIR_LOG_LEVEL) ?? 'info',
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    mixin: () => ({ ...currentLogContext(), ...traceFields() }),
  },
  { write: (line: string) => write(line) },
);

/** Hands the lines of the log to `other` instead, for tests. Returns a function that undoes it. */
export function redirectLog(other: Write): () => void {
  const before = write;
  write = other;
  return () => {
    write = before;
  };
}

/** Formats a line of the log for a terminal. Returns other lines unchanged. */
export function readableLine(line: string, { color = false }: { color?: boolean } = {}): string {
  pretty ??= createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  const options = { ignore: 'pid', translateTime: 'SYS:HH:MM:ss.l', singleLine: true };
  formats[Number(color)] ??= pretty.prettyFactory({ ...options, colorize: color });
  return formats[Number(color)]?.(line) ?? line;
}
/** Loaded when it is first needed: programs whose log is not read by people do without it. */
let pretty: typeof import('pino-pretty') | undefined;
const formats: ReturnType<typeof prettyFactory>[] = [];

/** Lines are written at once, so that none is lost when the process ends. */
function writeTo(fd: number): Write {
  const destination = pino.destination({ dest: fd, sync: true });
  // There is nowhere left to report it.
  destination.on('error', () => undefined);
  if (!isatty(fd)) return (line) => void destination.write(line);
  return (line) => void destination.write(readableLine(line, { color: true }));
}

/** Describes an error of any type in bounded size. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error, message: cut(error) };
  const { message, stack, code, cause } = error as NodeJS.ErrnoException;
  return {
    type: error.constructor.name,
    message: cut(message),
    ...(code !== undefined && { code }),
    ...(stack !== undefined && { stack: cut(stack) }),
    ...(cause !== undefined && { cause: cut(cause instanceof Error ? cause.message : cause) }),
  };
}

function cut(text: unknown): string {
  return String(text).slice(0, ERROR_MAX_CHARS);
}

/** Runs `work`; every line logged meanwhile has `fields` beside those of the context around it. */
export function withLogContext<T>(fields: LogContext, work: () => T): T {
  return storage.run({ ...storage.getStore(), ...fields }, work);
}

/** Adds fields to the current context, once they are known; does nothing outside `withLogContext`. */
export function addToLogContext(fields: LogContext): void {
  const store = storage.getStore();
  if (store) Object.assign(store, fields);
}

/** The current context; undefined outside `withLogContext`. */
export function currentLogContext(): LogContext | undefined {
  return storage.getStore();
}

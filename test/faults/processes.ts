// Runs Weir's own programs as real processes, to be killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { objectStoreEnv, SECRETS_KEYS, type Weir } from '../harness.ts';
import { testWorkflowBundle } from '../workflow-bundle.ts';

/** The lines with which programs say that they are ready. */
const READY = /"msg":"The (?:API listens|worker takes (?:runs|deliveries))/;
const ROOT = path.join(import.meta.dirname, '..', '..');

export type Program = {
  /** The line it logged when it was ready. */
  ready: string;
  pid: number;
  /** Sends SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** Sends SIGTERM, and waits until it has ended by itself; returns its exit code. */
  stop(): Promise<number | null>;
  /** Makes a program that was started with CRASHING throw an error that nothing catches; waits like `stop`. */
  crash(): Promise<number | null>;
  /** Returns what it has written to stderr so far. */
  errors(): string;
};

/** The environment of a program that can be told to throw. */
export const CRASHING = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent("process.on('SIGUSR2', () => { throw new Error('a bug') })")}`,
};

/**
 * Starts a program of this checkout with the database and task queue of `weir` and, unless `env` says otherwise, its
 * engine. Resolves when the program logs that it is ready, or another line that `until` matches.
 */
export async function startProgram(
  { config }: Pick<Weir, 'config'>,
  file: string,
  env: NodeJS.ProcessEnv = {},
  until = READY,
): Promise<Program> {
  const child = spawn(process.execPath, [file], {
    cwd: ROOT,
    env: {
      ...process.env,
      DATABASE_URL: config.databaseUrl,
      WEIR_API_KEY_PEPPER: config.apiKeyPepper,
      WEIR_SECRETS_KEYS: SECRETS_KEYS,
      WEIR_TASK_QUEUE: config.taskQueue,
      WEIR_SANDBOX_PROCESSES: '1',
      WEIR_HEARTBEAT_TIMEOUT: String((config.heartbeatTimeoutMs ?? 75_000) / 1_000),
      WEIR_PORT: '0',
      WEIR_LOG_LEVEL: 'info',
      TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS,
      WEIR_TEST_WORKFLOW_BUNDLE: file.startsWith('worker/')
        ? (await testWorkflowBundle()).codePath
        : undefined,
      ...objectStoreEnv(),
      ...env,
    },
  });
  let errors = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ready = await Promise.race([
    lineOf(child.stderr, until),
    once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended: ${errors}`))),
  ]);
  return {
    ready,
    pid: child.pid as number,
    kill: () => end(child, 'SIGKILL').then(() => undefined),
    stop: () => end(child, 'SIGTERM'),
    crash: () => end(child, 'SIGUSR2'),
    errors: () => errors,
  };
}

/** Waits for a line of a program's log. */
async function lineOf(log: Readable, wanted: RegExp): Promise<string> {
  for await (const [line] of on(createInterface(log), 'line') as AsyncIterable<[string]>)
    if (wanted.test(line)) return line;
  throw new Error('The program ended.');
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
  return child.exitCode;
}

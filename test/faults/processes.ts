// Weir's own programs as real processes, to be killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { SECRETS_KEYS, type Weir } from '../harness.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');

export type Program = {
  /** What it printed when it was ready. */
  ready: string;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and waits until it has ended by itself; answers its exit code. */
  stop(): Promise<number | null>;
  /** Where `env` has CRASHING: throws an error that nothing catches, and waits likewise. */
  crash(): Promise<number | null>;
  /** What it has written to stderr. */
  errors(): string;
};

/** Makes a program throw when it is told to. */
export const CRASHING = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent("process.on('SIGUSR2', () => { throw new Error('a bug') })")}`,
};

/**
 * Runs a program of this checkout, of the same Weir as `weir`: its database, task queue and, unless `env` says otherwise,
 * engine. Answers when it prints its first line, which is when it is ready.
 */
export async function startProgram(
  { config }: Pick<Weir, 'config'>,
  file: string,
  env: NodeJS.ProcessEnv = {},
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
      WEIR_PORT: '0',
      TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS,
      ...env,
    },
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ready = await Promise.race([
    once(child.stdout, 'data').then(([data]) => String(data)),
    once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended: ${errors}`))),
  ]);
  return {
    ready,
    kill: () => end(child, 'SIGKILL').then(() => undefined),
    stop: () => end(child, 'SIGTERM'),
    crash: () => end(child, 'SIGUSR2'),
    errors: () => errors,
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
  return child.exitCode;
}

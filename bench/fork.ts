import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const STOP_TIMEOUT_MS = 10_000;

/** A child process that ends with this one. */
type Fork = {
  pid: number;
  send(message: object): void;
  /** Returns the next message; rejects when the process ends instead. */
  receive(): Promise<unknown>;
  hasExited(): boolean;
  stop(): Promise<void>;
};

/** Runs a program as a child process. */
export function startFork(program: URL, env: NodeJS.ProcessEnv = {}): Fork {
  const child = fork(program, { env: { ...process.env, ...env } });
  const exited = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    send: (message) => void child.send(message),
    receive: () =>
      Promise.race([
        once(child, 'message').then(([message]) => message),
        exited.then(([code, signal]) => {
          throw new Error(`${path.basename(program.pathname)} ended early (${signal ?? `code ${code}`})`);
        }),
      ]),
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      if (child.connected) child.disconnect();
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(force);
    },
  };
}

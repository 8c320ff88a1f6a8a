// One guest process seen from the service: start it, give it one call at a time, kill it when it does not answer.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../flow/errors.ts';
import type { Confinement } from './confinement.ts';
import { createFrameDecoder, type Frame } from './frames.ts';
import { KILL_GRACE_MS, LOGS_MAX_LENGTH, START_TIMEOUT_MS, VALUE_MAX_BYTES } from './limits.ts';

/** A guest process ended without an answer; the call may be tried again. `cause` may have its last words. */
export class SandboxCrashed extends Error {
  override readonly name = 'SandboxCrashed';
}

/** A process that takes one call at a time. */
export type GuestProcess = {
  pid: number | undefined;
  /** Resolves with the guest's answer. Rejects with SandboxCrashed, CODE_TIMEOUT or the signal's reason. */
  call(frame: Buffer, timeoutMs: number, signal?: AbortSignal): Promise<Frame>;
  kill(): void;
  /** Resolves when the process is gone, however it ended. */
  exited: Promise<void>;
};

const PROGRAM = fileURLToPath(new URL('guest.ts', import.meta.url));
const NODE_FLAGS = [
  '--max-old-space-size=192',
  '--disable-warning=ExperimentalWarning',
  '--permission',
  '--allow-fs-read=*',
];
/** JSON text of the console output is at most six times its length. */
const FRAME_MAX_BYTES = VALUE_MAX_BYTES + 8 * LOGS_MAX_LENGTH;

/** Starts a guest and waits until it is ready; rejects with SandboxCrashed, or the signal's reason, and leaves none. */
export async function startGuest(confinement: Confinement, signal: AbortSignal): Promise<GuestProcess> {
  signal.throwIfAborted();
  const child = spawn(confinement.file, [...confinement.args, process.execPath, ...NODE_FLAGS, PROGRAM], {
    cwd: '/',
    env: {},
    stdio: 'pipe',
  });
  const { promise: exited, resolve: resolveExited } = Promise.withResolvers<void>();
  let waiting: { resolve(frame: Frame): void; reject(error: unknown): void } | undefined;

  function end(error: unknown): void {
    child.kill('SIGKILL');
    waiting?.reject(error);
    waiting = undefined;
  }

  /** The next frame; the process is killed and `late` thrown when it does not come in time. */
  async function nextFrame(timeoutMs: number, late: () => Error, signal?: AbortSignal): Promise<Frame> {
    const answer = Promise.withResolvers<Frame>();
    waiting = answer;
    // After a blocked event loop the answer may lie unread in the pipe: one more turn reads it.
    const timer = setTimeout(() => setImmediate(() => waiting === answer && end(late())), timeoutMs);
    const abort = () => end(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    try {
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-1_000);
  });
  const decode = createFrameDecoder(FRAME_MAX_BYTES);
  child.stdout.on('data', (chunk: Buffer) => {
    try {
      for (const frame of decode(chunk)) {
        waiting?.resolve(frame);
        waiting = undefined;
      }
    } catch (error) {
      end(new SandboxCrashed(`The sandbox process broke its protocol: ${error}`));
    }
  });
  // A pipe to or from a process that is gone; its exit is reported below.
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.on('error', () => child.kill('SIGKILL'));
  child.on('error', (error) => {
    end(new SandboxCrashed(`The sandbox process could not start: ${error.message}`));
    if (child.pid === undefined) resolveExited();
  });
  // 'close', not 'exit': by then what it said has been read.
  child.on('close', (code, signal) => {
    const how = signal ?? `exit code ${code}`;
    end(new SandboxCrashed(`The sandbox process ended (${how}) before it answered`, { cause: said }));
    resolveExited();
  });

  const tooSlow = () => new SandboxCrashed(`The sandbox process was not ready after ${START_TIMEOUT_MS} ms`);
  try {
    await nextFrame(START_TIMEOUT_MS, tooSlow, signal);
  } catch (error) {
    await exited;
    throw error;
  }
  return {
    pid: child.pid,
    exited,
    kill: () => end(new SandboxCrashed('The sandbox was closed')),
    async call(frame, timeoutMs, signal) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new SandboxCrashed('The sandbox process ended before the call');
      }
      child.stdin.write(frame);
      const late = () => new ServiceError('CODE_TIMEOUT', `The code ran longer than ${timeoutMs} ms`);
      return nextFrame(timeoutMs + KILL_GRACE_MS, late, signal);
    },
  };
}

// The service's side of one guest process: starts it, gives it one call at a time, kills it when it does not answer.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants, getPriority, setPriority } from 'node:os';
import { ServiceError } from '../../flow/errors.ts';
import type { Confinement } from './confinement.ts';
import { createFrameDecoder, encodeFrame, type Frame } from './frames.ts';
import type { CallHeader, GuestHeader } from './guest.ts';
import { findGuestProgram } from './guest-program.ts';
import {
  GUEST_NICENESS,
  KILL_GRACE_MS,
  LOGS_MAX_LENGTH,
  SHORT_CALL_MS,
  START_TIMEOUT_MS,
  STARVED_MAX_MS,
  VALUE_MAX_BYTES,
} from './limits.ts';
import { processorMs } from './processor-time.ts';

/** A guest process ended by itself during a call, which may be retried. `cause` may have the process's last output. */
export class SandboxCrashed extends Error {
  override readonly name = 'SandboxCrashed';
}
/** Not the code's fault: no process can be started, one was killed (memory is short), or the service is stopping. */
export class SandboxUnavailable extends Error {
  override readonly name = 'SandboxUnavailable';
}

/** `values` is the JSON text of `{ input, message, parameters, outputs }`. */
export type GuestCall = { source: string; timeoutMs: number; values: Buffer };

/** A process that takes one call at a time. */
export type GuestProcess = {
  pid: number | undefined;
  /** Rejects with SandboxCrashed, SandboxUnavailable, CODE_TIMEOUT or the signal's reason. */
  call(call: GuestCall, signal?: AbortSignal): Promise<Frame>;
  kill(): void;
  /** Resolves when the process is gone, however it ended. */
  exited: Promise<void>;
};

const NODE_FLAGS = [
  '--max-old-space-size=192',
  // One helper of V8 and a small young generation: less memory, and no time lost (docs/performance.md, Memory).
  '--v8-pool-size=1',
  '--max-semi-space-size=1',
  '--disable-warning=ExperimentalWarning',
  '--permission',
  '--allow-fs-read=*',
];
const LOOK_AGAIN_MS = 100;
/** JSON text of the console output is at most six times its length. */
const FRAME_MAX_BYTES = VALUE_MAX_BYTES + 8 * LOGS_MAX_LENGTH;

/** Those that have not ended: code in an endless loop would go on without this process, until its time is over. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a guest and waits until it is ready. On failure it leaves no process, and rejects with SandboxUnavailable or the
 * signal's reason.
 */
export async function startGuest(confinement: Confinement, signal: AbortSignal): Promise<GuestProcess> {
  const program = await findGuestProgram();
  signal.throwIfAborted();
  const child = spawn(confinement.file, [...confinement.args, process.execPath, ...NODE_FLAGS, program], {
    cwd: '/',
    env: {},
    stdio: 'pipe',
  });
  running.add(child);
  const { promise: exited, resolve: resolveExited } = Promise.withResolvers<void>();
  exited.then(() => running.delete(child));
  let waiting: { resolve(frame: Frame): void; reject(error: unknown): void } | undefined;
  /** The current call's number, which its frame and the answer's frame carry. 0: the guest reports that it is ready. */
  let number = 0;

  function end(error: unknown): void {
    child.kill('SIGKILL');
    waiting?.reject(error);
    waiting = undefined;
  }

  /** Waits for the answer to the current call. From `afterMs` on, kills the process and throws `late()` once `isLate()`. */
  async function nextFrame(
    afterMs: number,
    isLate: () => boolean,
    late: () => Error,
    signal?: AbortSignal,
  ): Promise<Frame> {
    const answer = Promise.withResolvers<Frame>();
    waiting = answer;
    // If the event loop was blocked, the answer may be unread in the pipe: one more turn of the loop reads it.
    const stop = () => setImmediate(() => waiting === answer && end(late()));
    const look = () => {
      if (isLate()) stop();
      else timer = setTimeout(look, LOOK_AGAIN_MS);
    };
    let timer = setTimeout(look, afterMs);
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

  child.on('error', (error) => {
    end(new SandboxUnavailable(`The sandbox process could not start: ${error.message}`));
    if (child.pid === undefined) resolveExited();
  });
  // Without a free file descriptor there are no pipes, whatever the types say.
  if (!child.stdout) throw new SandboxUnavailable('The sandbox process could not start: too many open files');
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-1_000);
  });
  const decode = createFrameDecoder(FRAME_MAX_BYTES);
  child.stdout.on('data', (chunk: Buffer) => {
    try {
      for (const frame of decode(chunk)) {
        const { call } = frame.header as GuestHeader;
        if (!waiting || call !== number) throw new Error(`an answer to call ${call} during call ${number}`);
        waiting.resolve(frame);
        waiting = undefined;
      }
    } catch (error) {
      end(new SandboxCrashed(`The sandbox process broke its protocol: ${error}`));
    }
  });
  // A pipe fails when the process is gone; the 'close' event below reports that.
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.on('error', () => child.kill('SIGKILL'));
  // 'close' rather than 'exit', since by then all output has been read.
  child.on('close', (code, signal) => {
    const how = signal ?? `exit code ${code}`;
    // SIGKILL comes from the kernel when memory is short, or from an operator; code that crashes its process ends otherwise.
    const Ended = number === 0 || signal === 'SIGKILL' ? SandboxUnavailable : SandboxCrashed;
    end(new Ended(`The sandbox process ended (${how}) before it answered`, { cause: said }));
    resolveExited();
  });

  const tooSlow = () =>
    new SandboxUnavailable(`The sandbox process was not ready after ${START_TIMEOUT_MS} ms`);
  try {
    await nextFrame(START_TIMEOUT_MS, () => true, tooSlow, signal);
  } catch (error) {
    await exited;
    throw error;
  }
  return {
    pid: child.pid,
    exited,
    kill: () => end(new SandboxUnavailable('The sandbox was closed')),
    async call({ source, timeoutMs, values }, signal) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new SandboxUnavailable('The sandbox process ended before the call');
      }
      number += 1;
      const header: CallHeader = { call: number, source, timeoutMs };
      const [began, used] = [performance.now(), processorMs(child.pid)];
      child.stdin.write(encodeFrame(header, values));
      const late = () => new ServiceError('CODE_TIMEOUT', `The code ran longer than ${timeoutMs} ms`);
      const isLate = () =>
        performance.now() - began > timeoutMs + STARVED_MAX_MS + KILL_GRACE_MS ||
        processorMs(child.pid) - used >= timeoutMs;
      const yielding = setTimeout(() => prioritize(child.pid, getPriority() + GUEST_NICENESS), SHORT_CALL_MS);
      try {
        return await nextFrame(timeoutMs + KILL_GRACE_MS, isLate, late, signal);
      } finally {
        clearTimeout(yielding);
        if (performance.now() - began > SHORT_CALL_MS) prioritize(child.pid, getPriority());
      }
    },
  };
}

/** Sets the priority of a process, which may have ended. Only a privileged service can raise it again. */
function prioritize(pid: number | undefined, niceness: number): void {
  try {
    if (pid !== undefined) setPriority(pid, Math.min(niceness, constants.priority.PRIORITY_LOW));
  } catch {
    // The process keeps its low priority until it is replaced.
  }
}

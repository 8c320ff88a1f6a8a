// The service's side of one guest process: starts it, gives it one call at a time, kills it when it does not answer.
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { ServiceError } from '../../flow/errors.ts';
import { OUTPUT_MAX_BYTES } from '../../flow/limits.ts';
import { log } from '../../platform/observability/log.ts';
import type { Confinement } from './confinement.ts';
import { createFrameDecoder, encodeFrame, type Frame } from './frames.ts';
import type { CallHeader, GuestHeader } from './guest.ts';
import { findGuestProgram } from './guest-program.ts';
import {
  ANSWER_MAX_MS,
  describeTimeout,
  GUEST_NICENESS,
  KILL_GRACE_MS,
  LOG_LIMITS,
  SHORT_CALL_MS,
  START_TIMEOUT_MS,
  STARVED_MAX_MS,
} from './limits.ts';
import { SandboxCrashed, SandboxUnavailable } from './sandbox-errors.ts';

/** From `afterMs` on, the process is killed once `isLate()`, and its call ends with `late()`. */
type Deadline = { afterMs: number; isLate(): boolean; late(): Error };

type GuestConnection = {
  send(call: Omit<CallHeader, 'call'>, values: Buffer): void;
  /**
   * Waits for the answer to the current call; before the first, for the guest's report that it is ready. Rejects with
   * SandboxCrashed, SandboxUnavailable, `late()` or the signal's reason.
   */
  receive(deadline: Deadline, signal?: AbortSignal): Promise<Frame>;
  /** Kills the process. Its call, if it has one, ends with the error. */
  end(error: unknown): void;
  /** Resolves when the process is gone, however it ended. */
  exited: Promise<void>;
};

const LOOK_AGAIN_MS = 100;
const SAID_MAX_LENGTH = 1_000;

/** More than the header of a frame has, with its error and console lines: a character has up to three bytes. */
const HEADER_MAX_BYTES = 64 * 1024 + 3 * LOG_LIMITS.chars;
const FRAME_MAX_BYTES = OUTPUT_MAX_BYTES + HEADER_MAX_BYTES;

/** Those that have not ended: code in an endless loop would go on without this process, until its time is over. */
const running = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

type End = { code: number | null; signal: NodeJS.Signals | null; wasReady: boolean; said: string };

/** The unit of /proc/<pid>/stat on every Linux that Node runs on: 100 ticks a second. */
const TICK_MS = 10;

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
  // One helper of V8 and a small young generation: less memory, and no time lost (bench/results/2026-11-28-memory.txt).
  '--v8-pool-size=1',
  '--max-semi-space-size=1',
  '--disable-warning=ExperimentalWarning',
  '--permission',
  '--allow-fs-read=*',
];

/** The time within which a guest reports that it is ready. */
const START = {
  afterMs: START_TIMEOUT_MS,
  isLate: () => true,
  late: () => new SandboxUnavailable(`The sandbox process was not ready after ${START_TIMEOUT_MS} ms`),
};

/**
 * Starts a guest and waits until it is ready. On failure it leaves no process, and rejects with SandboxUnavailable or the
 * signal's reason.
 */
export async function startGuest(confinement: Confinement, signal: AbortSignal): Promise<GuestProcess> {
  const program = await findGuestProgram();
  signal.throwIfAborted();
  const child = spawnGuest(confinement, program);
  const { send, receive, end, exited } = createGuestConnection(child);
  try {
    const { keptRoot } = (await receive(START, signal)).header as GuestHeader;
    if (keptRoot !== undefined) warnOfRoot(keptRoot);
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
      const [began, used] = [performance.now(), processorMs(child.pid)];
      send({ source, timeoutMs, outputMaxBytes: OUTPUT_MAX_BYTES }, values);
      const late = () => new ServiceError('CODE_TIMEOUT', describeTimeout(timeoutMs));
      const isLate = () =>
        performance.now() - began > timeoutMs + STARVED_MAX_MS + KILL_GRACE_MS ||
        processorMs(child.pid) - used >= timeoutMs + ANSWER_MAX_MS;
      const yielding = setTimeout(() => prioritize(child.pid, getPriority() + GUEST_NICENESS), SHORT_CALL_MS);
      try {
        return await receive({ afterMs: timeoutMs + KILL_GRACE_MS, isLate, late }, signal);
      } finally {
        clearTimeout(yielding);
        if (performance.now() - began > SHORT_CALL_MS) prioritize(child.pid, getPriority());
      }
    },
  };
}

let isRootTold = false;

/** Warns once per process: all its guests start alike. */
function warnOfRoot(reason: string): void {
  if (isRootTold) return;
  isRootTold = true;
  log.warn(
    { reason },
    'Sandbox processes stay root, since they cannot become nobody: start the service as another user.',
  );
}

function spawnGuest({ file, args }: Confinement, program: string): ChildProcessWithoutNullStreams {
  try {
    return spawn(file, [...args, process.execPath, ...NODE_FLAGS, program], {
      cwd: '/',
      env: {},
      stdio: 'pipe',
    });
  } catch (error) {
    // Without memory, for instance. Most failures come as an event instead.
    throw new SandboxUnavailable(`The sandbox process could not start: ${(error as Error).message}`);
  }
}

/** Sets the priority of a process, which may have ended. Only a privileged service can raise it again. */
function prioritize(pid: number | undefined, niceness: number): void {
  try {
    if (pid !== undefined) setPriority(pid, Math.min(niceness, constants.priority.PRIORITY_LOW));
  } catch {
    // The process keeps its low priority until it is replaced.
  }
}

/** Returns the processor time that a process has used so far, in milliseconds; 0 where it cannot be read (not on Linux). */
function processorMs(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name in parentheses and may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}

// The pipes of one guest process, which carry frames of one call at a time, and the end of that process.

/** Connects to a process that was spawned in this turn of the event loop. Throws SandboxUnavailable where it has no pipes. */
function createGuestConnection(child: ChildProcessWithoutNullStreams): GuestConnection {
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

  child.on('error', (error) => {
    end(new SandboxUnavailable(`The sandbox process could not start: ${error.message}`));
    if (child.pid === undefined) resolveExited();
  });
  // Without a free file descriptor there are no pipes, whatever the types say.
  if (!child.stdout) throw new SandboxUnavailable('The sandbox process could not start: too many open files');
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-SAID_MAX_LENGTH);
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
  // 'close' rather than 'exit': all output is read before 'close'.
  child.on('close', (code, signal) => {
    end(errorOfEnd({ code, signal, wasReady: number > 0, said }));
    resolveExited();
  });

  return {
    exited,
    end,
    send(call, values) {
      number += 1;
      child.stdin.write(encodeFrame({ call: number, ...call } satisfies CallHeader, values));
    },
    async receive({ afterMs, isLate, late }, signal) {
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
    },
  };
}

/** SIGKILL comes from the kernel when memory is short, or from an operator; code that crashes its process ends otherwise. */
function errorOfEnd({ code, signal, wasReady, said }: End): Error {
  const Ended = wasReady && signal !== 'SIGKILL' ? SandboxCrashed : SandboxUnavailable;
  const how = signal ?? `exit code ${code}`;
  return new Ended(`The sandbox process ended (${how}) before it answered`, { cause: said });
}

// The service's side of one guest process: starts it, gives it one call at a time, kills it when it does not answer.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { constants, getPriority, setPriority } from 'node:os';
import { ServiceError } from '../../flow/errors.ts';
import { OUTPUT_MAX_BYTES } from '../../flow/limits.ts';
import { log } from '../../platform/observability/log.ts';
import type { Confinement } from './confinement.ts';
import type { Frame } from './frames.ts';
import type { GuestHeader } from './guest.ts';
import { createGuestConnection } from './guest-connection.ts';
import { findGuestProgram } from './guest-program.ts';
import {
  describeTimeout,
  GUEST_NICENESS,
  KILL_GRACE_MS,
  SHORT_CALL_MS,
  START_TIMEOUT_MS,
  STARVED_MAX_MS,
} from './limits.ts';
import { processorMs } from './processor-time.ts';
import { SandboxUnavailable } from './sandbox-errors.ts';

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
        processorMs(child.pid) - used >= timeoutMs;
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

// The pipes of one guest process, which carry frames of one call at a time, and the end of that process.
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';
import { OUTPUT_MAX_BYTES } from '../../flow/limits.ts';
import { createFrameDecoder, encodeFrame, type Frame } from './frames.ts';
import type { CallHeader, GuestHeader } from './guest.ts';
import { SandboxCrashed, SandboxUnavailable } from './sandbox-errors.ts';

/** From `afterMs` on, the process is killed once `isLate()`, and its call ends with `late()`. */
type Deadline = { afterMs: number; isLate(): boolean; late(): Error };

type GuestConnection = {
  /** Sends the next call. */
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
/** More than the header of a frame has, with its error. */
const HEADER_MAX_BYTES = 64 * 1024;
const FRAME_MAX_BYTES = OUTPUT_MAX_BYTES + HEADER_MAX_BYTES;

/** Those that have not ended: code in an endless loop would go on without this process, until its time is over. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Connects to a process that was spawned in this turn of the event loop. Throws SandboxUnavailable where it has no pipes. */
export function createGuestConnection(child: ChildProcessWithoutNullStreams): GuestConnection {
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
  // 'close' rather than 'exit', since by then all output has been read.
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

type End = { code: number | null; signal: NodeJS.Signals | null; wasReady: boolean; said: string };

/** SIGKILL comes from the kernel when memory is short, or from an operator; code that crashes its process ends otherwise. */
function errorOfEnd({ code, signal, wasReady, said }: End): Error {
  const Ended = wasReady && signal !== 'SIGKILL' ? SandboxCrashed : SandboxUnavailable;
  const how = signal ?? `exit code ${code}`;
  return new Ended(`The sandbox process ended (${how}) before it answered`, { cause: said });
}

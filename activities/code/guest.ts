// The program of a guest process: reads calls from standard input, writes results to standard output.
//
// The author of a code block may rely on this:
// - The source is the body of an async function with `input` (the block's input), `message` (the run's message),
//   `parameters` (the run's parameters) and `outputs` (of earlier steps, by step_id) in scope. `return` gives the
//   output; no return, or undefined, gives null.
// - `await` and promises work. There is nothing else to wait for: no timers, network, files, modules or imports.
// - The output must be JSON: a function, symbol, BigInt, NaN, infinity, cycle, key `__proto__` or more than 64 levels
//   of nesting fails the block; `toJSON` is called, undefined properties are left out, as JSON.stringify does.
// - What the functions of `console` write is kept for the trace, within limits; reading it runs no getters of the user's.
// - An error fails the block with the error's message and the line in the source; it is not retried.
// - Limits: source 256 KB, input 16 MiB and output 4 MiB as JSON, 256 MiB of memory, and the block's time limit, which is
//   processor time (on a busy machine up to a minute more by the clock).
// - Each call starts afresh: nothing is kept from one call to the next. Math.random has a seed of its own in each.

import type { CodeLog } from '../../flow/code-log.ts';
import { createFrameDecoder, encodeFrame } from './frames.ts';
import { INPUT_MAX_BYTES, SOUND_FAILURES, SOURCE_MAX_BYTES } from './limits.ts';
import { type Failure, prepareMachine, usedMs } from './machine.ts';

/** The user id that owns nothing. */
const NOBODY = 65_534;
const NOTHING = Buffer.alloc(0);

/** Nobody ever wakes who waits here. */
const NEVER = new Int32Array(new SharedArrayBuffer(4));
const PAUSE_MS = 0.02;
/** The unit of processor time in /proc. */
const LEAST_MS = 0.001;

/** Header of a frame to the guest; the body is the JSON text of `{ input, message, parameters, outputs }`. */
export type CallHeader = { call: number; source: string; timeoutMs: number; outputMaxBytes: number };
/**
 * Header of a frame from the guest, with the number of the call it answers; the body is the output. Call 0: ready, and `keptRoot`
 * is why the guest still runs as root, where it does.
 */
export type GuestHeader = {
  call: number;
  processorMs: number;
  logs?: CodeLog[];
  failure?: Failure;
  keptRoot?: string;
};

/**
 * Becomes the user `nobody` when started as root. This happens here rather than before the start because `nobody` may be
 * unable to read this program, which is loaded by now. Returns why the user stays, where the platform forbids the change.
 */
function dropPrivileges(): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  try {
    process.setgroups?.([]);
    process.setgid?.(NOBODY);
    process.setuid?.(NOBODY);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

function send(header: GuestHeader, body: Buffer): void {
  process.stdout.write(encodeFrame(header, body));
}

let machine = await prepareMachine();
const keptRoot = dropPrivileges();
send({ call: 0, processorMs: 0, ...(keptRoot !== undefined && { keptRoot }) }, NOTHING);

const decode = createFrameDecoder(INPUT_MAX_BYTES + 8 * SOURCE_MAX_BYTES);
for await (const chunk of process.stdin) {
  for (const { header, body } of decode(chunk)) {
    const { call, ...asked } = header as CallHeader;
    const before = usedMs();
    const result = machine.run({ ...asked, values: body.toString() });
    // Linux adds a thread's time up at each of its clock's ticks, every 4 ms, and when the thread waits: without this, most
    // short calls would have taken none. A pause that is over before the thread waits adds nothing up.
    Atomics.wait(NEVER, 0, 0, PAUSE_MS);
    const processorMs = Math.max(usedMs() - before, LEAST_MS);
    const answer = { call, processorMs, logs: result.logs };
    if ('output' in result) send(answer, result.output);
    else send({ ...answer, failure: result.failure }, NOTHING);
    if (('failure' in result && !SOUND_FAILURES.includes(result.failure.code)) || !machine.restore())
      machine = await prepareMachine();
  }
}

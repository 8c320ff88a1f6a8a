// The program of a guest process: reads calls from standard input, writes results to standard output.
//
// What a code block's author may rely on:
// - The source is the body of an async function with `input` (the block's input), `message` (the run's message) and
//   `parameters` (the run's parameters) in scope. `return` gives the output; no return, or undefined, gives null.
// - `await` and promises work. There is nothing else to wait for: no timers, network, files, modules or imports.
// - The output must be JSON: a function, symbol, BigInt, NaN, infinity, cycle, key `__proto__` or more than 64 levels
//   of nesting fails the block; `toJSON` is called, undefined properties are left out, as JSON.stringify does.
// - `console.log` and its kind are kept with the call (64 KB).
// - An error fails the block with its own message and the line of the source; it is not retried.
// - Limits: source 256 KB, input and output 16 MiB each as JSON, 256 MiB of memory, the block's time limit.
// - Each call starts afresh: nothing is kept from one call to the next.

import { createFrameDecoder, encodeFrame } from './frames.ts';
import { LOGS_MAX_LENGTH, SOURCE_MAX_BYTES, VALUE_MAX_BYTES } from './limits.ts';
import { prepareMachine } from './machine.ts';

/** The user id that owns nothing. */
const NOBODY = 65_534;
const NOTHING = Buffer.alloc(0);

/** Header of the parent's frame; its body is the JSON text of `{ input, message, parameters }`. */
export type CallHeader = { source: string; timeoutMs: number };

/**
 * Started as root, goes on as nobody. Done here, not before the start, since nobody may be unable to read this
 * program: by now all of it is loaded. Where the platform forbids the change the process goes on as it is.
 */
function dropPrivileges(): string {
  if (process.getuid?.() !== 0) return 'not root';
  try {
    process.setgroups?.([]);
    process.setgid?.(NOBODY);
    process.setuid?.(NOBODY);
    return 'nobody';
  } catch (error) {
    return `kept root: ${error}`;
  }
}

function send(header: unknown, body: Buffer): void {
  process.stdout.write(encodeFrame(header, body));
}

let machine = await prepareMachine();
send({ ready: dropPrivileges() }, NOTHING);

const decode = createFrameDecoder(VALUE_MAX_BYTES + 8 * SOURCE_MAX_BYTES);
for await (const chunk of process.stdin) {
  for (const { header, body } of decode(chunk)) {
    const { source, timeoutMs } = header as CallHeader;
    const result = machine.run({ source, timeoutMs, values: body.toString() });
    const logs = result.logs.slice(0, LOGS_MAX_LENGTH);
    if ('output' in result) send({ logs }, result.output);
    else send({ logs, failure: result.failure }, NOTHING);
    if (('failure' in result && result.failure.code !== 'CODE_ERROR') || !machine.restore())
      machine = await prepareMachine();
  }
}

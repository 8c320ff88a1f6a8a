// Runs user code in a QuickJS of its own. Every call starts from the same WebAssembly memory, byte for byte.
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import variant from '@jitl/quickjs-ng-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import type { CodeLog } from '../../flow/code-log.ts';
import { guestConsole } from './guest-console.ts';
import {
  describeTimeout,
  JSON_DEPTH_MAX,
  LOG_LIMITS,
  MEMORY_MAX_BYTES,
  STACK_MAX_BYTES,
  STARVED_MAX_MS,
} from './limits.ts';
import { type Prelude, prelude } from './prelude.ts';

const SNAPSHOT_PAGE_BYTES = 64 * 1024;
const EMPTY_PAGE = Buffer.alloc(SNAPSHOT_PAGE_BYTES);

/** Errors that the engine itself throws, for which it knows only the line of an earlier call or statement. */
const UNPLACED = /^TypeError: (cannot |not an object|invalid '|.*\biterable\b)|is not initialized$/i;

/** An unterminated string, comment or template: the engine knows where the source ends, not where the text began. */
const ENDLESS = /^SyntaxError: unexpected end of (string|comment|template)/;
const PROPERTY = /^TypeError: cannot (?:read|set) property '(.+)' of /;

const UNDEFINED = /^ReferenceError: ([\p{L}_$][\p{L}\p{N}_$]*) is not defined$/u;

/** The end of a line inside a call or a list: the engine may name any line of a call that has several. */
const OPEN_END = /[([,]\s*$/;

/** The user's code and its arguments; `values` is the JSON text of `{ input, message, parameters, outputs }`. */
type MachineCall = { source: string; values: string; timeoutMs: number; outputMaxBytes: number };
export type Failure = {
  code: 'CODE_ERROR' | 'CODE_TIMEOUT' | 'CODE_LIMIT_EXCEEDED' | 'OUTPUT_TOO_LARGE';
  /** Names the line of the user's source where it is known. */
  message: string;
};
type MachineResult = ({ output: Buffer } | { failure: Failure }) & { logs: CodeLog[] };
type Machine = {
  /** Runs one call; never throws. */
  run(call: MachineCall): MachineResult;
  /** Restores the memory as it was before the call; returns false when it cannot, and the machine is used up. */
  restore(): boolean;
};

const PAGE_BYTES = 64 * 1024;
/** The least that the module accepts. */
const INITIAL_PAGES = 256;
/** Reading an error may run the user's getters. */
const EXPLAIN_MAX_MS = 500;
const SEED_END = 2 ** 32;
const FILE_NAME = 'block.js';
const HEAD = 'async function (input, message, parameters) {';
const PRELUDE_SOURCE = `(${prelude.toString()})(${JSON_DEPTH_MAX})`;
const CONSOLE_SOURCE = `(${guestConsole.toString()})(${JSON.stringify(LOG_LIMITS)})`;

// V8 compiles a function anew, with what it has seen of its calls, once it has run so much of it. By default (13 million) it
// does so while the machine is prepared, sees little, and loops of users' code take a third more time (docs/performance.md).
setFlagsFromString('--wasm-tiering-budget=100000000');
// The package's types describe its CommonJS form, where this would be one level down.
const syncVariant = variant as unknown as QuickJSSyncVariant;
const wasmModule = new WebAssembly.Module(
  readFileSync(fileURLToPath(import.meta.resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm'))),
);

/** Returns the processor time that this thread has used so far. */
export function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** A fault of the WebAssembly module itself means this too: an allocation failed or the native stack ran out. */
const OUT_OF_MEMORY: Failure = {
  code: 'CODE_LIMIT_EXCEEDED',
  message: `The code needs more than ${MEMORY_MAX_BYTES / 1024 / 1024} MB of memory, or too much stack`,
};

class Failed extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

class GuestThrow extends Error {
  readonly thrown: QuickJSHandle;
  constructor(thrown: QuickJSHandle) {
    super('the guest threw');
    this.thrown = thrown;
  }
}

/** Creates a QuickJS: some 7 ms of processor time, best spent before a call arrives. */
export async function prepareMachine(): Promise<Machine> {
  const wasmMemory = new WebAssembly.Memory({
    initial: INITIAL_PAGES,
    maximum: MEMORY_MAX_BYTES / PAGE_BYTES,
  });
  // The module's own print functions would write to the streams that carry the frames.
  const emscriptenModule: object = { print: () => undefined, printErr: () => undefined };
  const module = await newQuickJSWASMModuleFromVariant(
    newVariant(syncVariant, { wasmModule, wasmMemory, emscriptenModule }),
  );
  const run = createRunner(module);
  // Some handles are created on first use; the snapshot has to contain them.
  run({ source: 'return null', values: '{}', timeoutMs: EXPLAIN_MAX_MS, outputMaxBytes: PAGE_BYTES });
  return { run, restore: takeSnapshot(wasmMemory) };
}

function createRunner(module: QuickJSWASMModule): Machine['run'] {
  const runtime = module.newRuntime({ maxStackSizeBytes: STACK_MAX_BYTES });
  const context = runtime.newContext();
  let limit = { endsAt: Number.POSITIVE_INFINITY, wallEndsAt: 0, usedAt: 0 };
  const late = () => {
    const now = performance.now();
    // Before `endsAt` the limit cannot be used up, and reading the clock is cheaper than asking for processor time.
    return now > limit.endsAt && (now > limit.wallEndsAt || usedMs() > limit.usedAt);
  };
  const allow = (timeoutMs: number) => {
    const now = performance.now();
    limit = {
      endsAt: now + timeoutMs,
      wallEndsAt: now + timeoutMs + STARVED_MAX_MS,
      usedAt: usedMs() + timeoutMs,
    };
  };
  runtime.setInterruptHandler(late);

  const take = (result: ReturnType<QuickJSContext['evalCode']>): QuickJSHandle => {
    if (result.error) throw new GuestThrow(result.error);
    return result.value;
  };
  const guest = take(context.evalCode(PRELUDE_SOURCE, 'prelude.js', { strict: true }));
  const logs = take(context.evalCode(CONSOLE_SOURCE, 'console.js', { strict: true }));
  const call = (name: keyof Prelude, ...values: QuickJSHandle[]): QuickJSHandle =>
    take(context.callFunction(context.getProp(guest, name), context.undefined, ...values));
  const callText = (name: keyof Prelude, ...values: QuickJSHandle[]): string =>
    String(JSON.parse(context.getString(call(name, ...values))));

  function compile(source: string): QuickJSHandle {
    const main = `${HEAD}${source}\n}`;
    const compiled = take(context.evalCode(`(${main})`, FILE_NAME));
    // A source that closes the function early evaluates to something other than the whole text.
    const length =
      context.typeof(compiled) === 'function' ? context.getNumber(call('sourceLength', compiled)) : 0;
    if (length === main.length) return compiled;
    throw new Failed({
      code: 'CODE_ERROR',
      message: 'SyntaxError: the code closes a brace that it did not open',
    });
  }

  /** Runs jobs until the promise settles; jobs that are left after that are dropped. */
  function settle(promise: QuickJSHandle): QuickJSHandle {
    for (;;) {
      const state = context.getPromiseState(promise);
      if (state.type === 'fulfilled') return state.value;
      if (state.type === 'rejected') throw new GuestThrow(state.error);
      if (late() || !runtime.hasPendingJob()) break;
      const jobs = runtime.executePendingJobs(1);
      if (jobs.error) throw new GuestThrow(jobs.error);
    }
    throw new Failed({
      code: 'CODE_ERROR',
      message: 'The code waits for a promise that will never be resolved',
    });
  }

  function setInput(values: string): void {
    const text = context.newString(values);
    try {
      const seeds = [randomInt(SEED_END), randomInt(SEED_END), randomInt(SEED_END)];
      call('setInput', text, ...seeds.map((seed) => context.newNumber(seed)));
    } catch {
      const message = 'The input is nested too deeply, or too large once parsed, for a code block';
      throw new Failed({ code: 'CODE_LIMIT_EXCEEDED', message });
    } finally {
      text.dispose();
    }
  }

  /** Reads the console lines; none where memory is too short for that. */
  function readLogs(): CodeLog[] {
    try {
      return JSON.parse(context.getString(take(context.callFunction(logs, context.undefined))));
    } catch {
      return [];
    }
  }

  function execute({ source, values, outputMaxBytes }: MachineCall): Buffer {
    const main = compile(source);
    setInput(values);
    const output = call('serialize', settle(call('run', main)));
    if (context.typeof(output) !== 'string') {
      throw new Failed({ code: 'CODE_ERROR', message: callText('problem') });
    }
    // Check the length in UTF-16 units first, so that a text that is surely too large is not copied.
    const length = context.getProp(output, 'length').consume((value) => context.getNumber(value));
    const text = length > outputMaxBytes ? undefined : Buffer.from(context.getString(output));
    if (text !== undefined && text.length <= outputMaxBytes) return text;
    const message = `The returned value is over the limit of ${outputMaxBytes} bytes as JSON`;
    throw new Failed({ code: 'OUTPUT_TOO_LARGE', message });
  }

  function explain(thrown: QuickJSHandle, source: string): Failure {
    const memoryFull = module.getWasmMemory().buffer.byteLength > 0.9 * MEMORY_MAX_BYTES;
    try {
      const title = callText('title', thrown);
      // QuickJS throws null when it has no memory for an error object.
      if (title === 'InternalError: out of memory' || (memoryFull && title === 'The code threw null'))
        return OUT_OF_MEMORY;
      const found = new RegExp(`\\b${FILE_NAME}:(\\d+)`).exec(callText('stack', thrown))?.[1];
      const line = found === undefined ? undefined : findErrorLine(title, Number(found), source);
      return { code: 'CODE_ERROR', message: line === undefined ? title : `${title} (line ${line})` };
    } catch (error) {
      if (memoryFull || !(error instanceof GuestThrow)) return OUT_OF_MEMORY;
      return { code: 'CODE_ERROR', message: 'The code threw an object whose message cannot be read' };
    }
  }

  return function run(request) {
    allow(request.timeoutMs);
    try {
      const output = execute(request);
      allow(EXPLAIN_MAX_MS);
      return { output, logs: readLogs() };
    } catch (error) {
      const timedOut = late();
      allow(EXPLAIN_MAX_MS);
      let failure: Failure = OUT_OF_MEMORY;
      if (timedOut) {
        failure = { code: 'CODE_TIMEOUT', message: describeTimeout(request.timeoutMs) };
      } else if (error instanceof Failed) failure = error.failure;
      else if (error instanceof GuestThrow) failure = explain(error.thrown, request.source);
      return { failure, logs: readLogs() };
    }
  };
}

/** Returns the line of the source that an error belongs to, or undefined when the engine's `line` may be another. */
function findErrorLine(title: string, line: number, source: string): number | undefined {
  const lines = source.split('\n');
  const property = PROPERTY.exec(title)?.[1];
  // A property that only one line names after a dot was read there.
  if (property !== undefined) return onlyLine(lines, (text) => names(text, property));
  const name = UNDEFINED.exec(title)?.[1];
  if (name !== undefined) return onlyLine(lines, (text) => identifiersOf(text).includes(name));
  if (UNPLACED.test(title) || isInsideCall(lines, line)) return undefined;
  if (ENDLESS.test(title) && lines.length > 1 && line >= lines.length) return undefined;
  return Math.min(line, lines.length);
}

function names(text: string, property: string): boolean {
  const chains = text.split(/[^\p{L}\p{N}_$.]+/u);
  return chains.some((chain) => chain.split('.').slice(1).includes(property));
}

/** Returns the number of the only matching line; undefined for none or several. */
function onlyLine(lines: string[], has: (text: string) => boolean): number | undefined {
  const holders = lines.flatMap((text, index) => (has(text) ? [index + 1] : []));
  return holders.length === 1 ? holders[0] : undefined;
}

/** Lists the names in a line that are not members of something. */
function identifiersOf(text: string): string[] {
  return text.match(/(?<![\p{L}\p{N}_$]|(?<!\.\.)\.)[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? [];
}

function isInsideCall(lines: string[], line: number): boolean {
  return OPEN_END.test(lines[line - 2] ?? '') || /,\s*$/.test(lines[line - 1] ?? '');
}

// Sets a QuickJS back to its first state: all of it lies in its WebAssembly memory.

/**
 * Remembers the memory as it is. The function it returns restores it between two calls; it returns false, and changes
 * nothing, when the memory has grown.
 */
export function takeSnapshot(wasmMemory: WebAssembly.Memory): () => boolean {
  const { buffer } = wasmMemory;
  const pages = Array.from({ length: buffer.byteLength / SNAPSHOT_PAGE_BYTES }, (_, index) => {
    const page = Buffer.from(buffer, index * SNAPSHOT_PAGE_BYTES, SNAPSHOT_PAGE_BYTES);
    return { page, content: EMPTY_PAGE.equals(page) ? undefined : Buffer.from(page) };
  });
  return function restore() {
    if (wasmMemory.buffer !== buffer) return false;
    for (const { page, content } of pages) {
      if (content) page.set(content);
      // A page that was never written, as most of the stack, has no memory behind it; to write zeros would give it some.
      else if (!EMPTY_PAGE.equals(page)) page.fill(0);
    }
    return true;
  };
}

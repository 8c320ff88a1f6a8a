// Limits of user code (docs/blocks.md, Code blocks). The guest enforces them; the service does not rely on that.

export const SOURCE_MAX_BYTES = 256 * 1024;
/** The input with message, parameters and outputs, as JSON: a body's message is also the input of the first block. */
export const INPUT_MAX_BYTES = 16 * 1024 * 1024;
/** Failures after which the process can run another call: after any other, it may be in any state. */
export const SOUND_FAILURES = ['CODE_ERROR', 'OUTPUT_TOO_LARGE'];
/** The console lines of one call: of more, the first half and the last are kept. Long lines are cut. */
export const LOG_LIMITS = {
  lines: 1_000,
  /** As JSON, all lines together. */
  chars: 64 * 1024,
  /** A single line; its JSON has at most a quarter of all. */
  lineChars: 8 * 1024,
  /** Shown of one array or object. */
  items: 100,
  /** Levels of nesting. */
  depth: 5,
};
export type LogLimits = typeof LOG_LIMITS;
/** Nesting of arrays and objects in a result. */
export const JSON_DEPTH_MAX = 64;
/** WebAssembly memory of one call: 16 MiB in and 4 MiB out as text, their parsed forms, and what the code makes. */
export const MEMORY_MAX_BYTES = 256 * 1024 * 1024;
/** QuickJS stack; the WebAssembly stack is larger, so that the guest gets an error instead of a fault. */
export const STACK_MAX_BYTES = 256 * 1024;
/** A guest has this long after the deadline to answer before its process is killed. */
export const KILL_GRACE_MS = 1_000;
/** In processor time, where the clock's grace is over. */
export const ANSWER_MAX_MS = 200;
/** A block's time limit is processor time, since the machine is shared: by the clock it may take this much longer. */
export const STARVED_MAX_MS = 60_000;
/** A call that takes longer than this yields the processors to the service and to shorter calls. */
export const SHORT_CALL_MS = 50;
export const GUEST_NICENESS = 10;
export const START_TIMEOUT_MS = 15_000;
/**
 * A process that has run this often, or was busy this long, is replaced. Every call starts from the same memory, so
 * this only bounds what the process itself might accumulate; a start costs some 100 ms of processor time.
 */
export const RUNS_MAX = 1_000;
export const BUSY_MAX_MS = 60_000;
/** An idle process ends after this time, unless it is the last idle process. */
export const IDLE_MAX_MS = 60_000;
/** Processor time of one process: ends a process whose parent is gone while it runs native code endlessly. */
export const PROCESS_CPU_SECONDS = 120;
/** Writable private memory of one process: Node itself takes some 600 MiB of address space, WebAssembly the rest. */
export const PROCESS_DATA_MAX_BYTES = 1536 * 1024 * 1024;

/** Words the error CODE_TIMEOUT for the authors of code. */
export function describeTimeout(timeoutMs: number): string {
  return `The code did not end within ${timeoutMs} ms of processor time: make it cheaper, or raise processor_config.timeout_ms.`;
}

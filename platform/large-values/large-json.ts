// Reads large JSON texts, and code, in a thread, so that they hold up nothing else: bytes go in, and what is needed of them
// comes out. Organizations share the thread fairly. Small JSON texts are read at once, where the caller runs.
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { CodeFindings } from '../javascript/read-code.ts';
import { createFairQueue } from '../limits/fair-queue.ts';
import { THREAD_OPTIONS } from '../limits/thread.ts';
import { log } from '../observability/log.ts';
import { type Completion, type Measure, TASKS, type TaskOptions } from './tasks.ts';
import type { Task } from './thread.ts';

/** Handing over a smaller text takes longer than reading it. */
export const LARGE_JSON_BYTES = 256 * 1024;
/** Heap of the thread. 8 MiB of JSON, parsed, have at most 185 MB: millions of empty objects. */
const HEAP_MAX_MB = 256;
/** For how long the thread stays when nothing is to be read: it keeps 25 MB, and far more after large texts. */
const IDLE_MAX_MS = 60_000;

export type LargeJson = {
  /** Finds out why a text is too large to parse, and where it is, measures its outermost `member`. */
  measure(owner: string, json: Buffer, options: Options): Promise<Measure>;
  /** Measures a text and parses it where it is not too large. Rejects with SyntaxError. */
  check(owner: string, json: Buffer, options: Options): Promise<Measure>;
  /** Reads a model's answer. Rejects with SyntaxError. */
  readCompletion(owner: string, json: Buffer, options: Options): Promise<Completion>;
  /** Reads the source of a code block, of any length, in the thread. */
  readCode(owner: string, source: Buffer, options: Options): Promise<CodeFindings>;
  /** Ends the thread. Later tasks, and the task in flight, are done where the caller runs. */
  close(): Promise<void>;
};

/** All reject with the reason of the signal when that aborts while the task is queued. */
type Options = TaskOptions & { signal?: AbortSignal | undefined };

const PROGRAM = fileURLToPath(new URL('thread.ts', import.meta.url));

/** Creates the reader of large JSON texts of one process. Its thread starts when needed and ends when idle. */
export function createLargeJson({
  largeBytes = LARGE_JSON_BYTES,
  program = PROGRAM,
  idleMaxMs = IDLE_MAX_MS,
} = {}): LargeJson {
  const queue = createFairQueue({ capacity: 1 });
  let pool = createPool();
  let isClosed = false;

  function createPool(): Piscina {
    const created = new Piscina({
      ...THREAD_OPTIONS,
      filename: program,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleMaxMs,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
      recordTiming: false,
      // A thread that waits by Atomics collects no garbage.
      atomics: 'disabled',
    });
    // An error event without a listener ends the process.
    return created.on('error', () => undefined);
  }

  async function run(name: Task['name'], owner: string, json: Buffer, given: Options): Promise<unknown> {
    const { signal, ...options } = given;
    using _permit = await queue.acquire(owner, { signal });
    try {
      if (!isClosed) return await doInThread({ name, json, options });
    } catch (error) {
      if (error instanceof SyntaxError) throw error;
      if (!isClosed) log.error({ err: error }, 'The thread for large JSON texts could not be used.');
      // A pool without a thread may keep the task.
      if (pool.threads.length === 0) pool = createPool();
    }
    // No thread could be started, or it has ended, or could not do it: nothing fails for that.
    return TASKS[name](json, options);
  }

  /** Does a task in the thread. Rejects with the thread's error also when the thread ends before it gets the task. */
  async function doInThread(task: Task): Promise<unknown> {
    const { promise: lost, reject: lose } = Promise.withResolvers<never>();
    const used = pool.once('error', lose);
    try {
      return await Promise.race([used.run(task), lost]);
    } finally {
      used.off('error', lose);
    }
  }

  const runLarge = async (name: Task['name'], owner: string, json: Buffer, options: Options) =>
    json.length < largeBytes ? TASKS[name](json, options) : run(name, owner, json, options);

  return {
    measure: (...asked) => runLarge('measure', ...asked) as Promise<Measure>,
    check: (...asked) => runLarge('check', ...asked) as Promise<Measure>,
    readCompletion: (...asked) => runLarge('readCompletion', ...asked) as Promise<Completion>,
    readCode: (...asked) => run('readCode', ...asked) as Promise<CodeFindings>,
    async close() {
      isClosed = true;
      await pool.destroy();
    },
  };
}

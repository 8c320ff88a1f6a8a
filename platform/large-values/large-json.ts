// Reads large JSON texts, and code, in a thread, so that they hold up nothing else: bytes go in, and what is needed of them
// comes out. Organizations take turns at it, and after each text the thread rests, so that it has half of a processor, or a
// quarter while others are present. Small JSON texts are read at once, where the caller runs.
import { Worker } from 'node:worker_threads';
import type { CodeFindings } from '../javascript/read-code.ts';
import { restAfter } from '../limits/large-work.ts';
import { createPresence } from '../limits/presence.ts';
import { THREAD_OPTIONS } from '../limits/thread.ts';
import { createTurns } from '../limits/turns.ts';
import { log } from '../observability/log.ts';
import { type Completion, type Measure, TASKS, type TaskOptions } from './tasks.ts';
import type { ThreadReply, ThreadRequest } from './thread.ts';

/** Handing over a smaller text takes longer than reading it. */
export const LARGE_JSON_BYTES = 256 * 1024;
/** Heap of the thread: the parsed form of the largest texts, several times over. */
const HEAP_MAX_MB = 512;
/** A text that took longer had to wait for a processor. */
const REST_MAX_MS = 1_000;
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
  /** Ends the thread. What is asked for afterwards is done where the caller runs. */
  close(): Promise<void>;
};

/** All reject with the signal's reason when that aborts before it is their turn. */
type Options = TaskOptions & { signal?: AbortSignal | undefined };

type Job = { worker: Worker; resolve(reply: ThreadReply): void };

const PROGRAM = new URL('thread.ts', import.meta.url);

/** Creates the reader of large JSON texts of one process. Its thread starts when needed and ends when idle. */
export function createLargeJson({
  largeBytes = LARGE_JSON_BYTES,
  program = PROGRAM,
  presence = createPresence(),
  idleMaxMs = IDLE_MAX_MS,
} = {}): LargeJson {
  const turns = createTurns({ places: 1, reserve: 0 });
  let idle: Worker | undefined;
  let endIdle: NodeJS.Timeout | undefined;
  let job: Job | undefined;
  let closed = false;

  async function readLarge(
    task: keyof typeof TASKS,
    owner: string,
    json: Buffer,
    options: Options,
  ): Promise<unknown> {
    return json.length < largeBytes ? TASKS[task](json, options) : run(task, owner, json, options);
  }

  async function run(
    task: keyof typeof TASKS,
    owner: string,
    json: Buffer,
    { signal, ...options }: Options,
  ): Promise<unknown> {
    const endTurn = await turns.wait(owner, signal);
    const began = performance.now();
    try {
      const reply: ThreadReply = closed ? FAILED : await ask({ task, json: copyOf(json), options });
      if ('done' in reply) return reply.done;
      if ('invalid' in reply) throw new SyntaxError(reply.invalid);
      // No thread could be started, or it has ended, or could not do it: nothing fails for that.
      return TASKS[task](json, options);
    } finally {
      const rest = restAfter(performance.now() - began, owner, presence);
      setTimeout(endTurn, Math.min(rest, REST_MAX_MS)).unref();
    }
  }

  function ask(request: ThreadRequest): Promise<ThreadReply> {
    const worker = idle ?? tryToStart();
    if (!worker) return Promise.resolve(FAILED);
    idle = undefined;
    clearTimeout(endIdle);
    const { promise, resolve } = Promise.withResolvers<ThreadReply>();
    job = { worker, resolve };
    worker.ref();
    worker.postMessage(request, [request.json]);
    return promise;
  }

  /** Starts the thread, unless the system allows no more threads. */
  function tryToStart(): Worker | undefined {
    try {
      return start();
    } catch (error) {
      log.error({ err: error }, 'The thread for large JSON texts could not be started.');
      return undefined;
    }
  }

  function start(): Worker {
    const worker = new Worker(program, {
      ...THREAD_OPTIONS,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
    });
    const settle = (reply: ThreadReply) => {
      if (job?.worker !== worker) return;
      job.resolve(reply);
      job = undefined;
    };
    worker.on('message', (reply: ThreadReply) => {
      worker.unref();
      idle = worker;
      endIdle = setTimeout(end, idleMaxMs).unref();
      settle(reply);
    });
    const end = (error?: unknown) => {
      if (idle === worker) idle = undefined;
      if (job?.worker === worker && !closed)
        log.error({ err: error }, 'The thread for large JSON texts ended.');
      settle(FAILED);
      void worker.terminate();
    };
    worker.on('error', end);
    worker.on('messageerror', end);
    worker.on('exit', end);
    return worker;
  }

  return {
    measure: (...asked) => readLarge('measure', ...asked) as Promise<Measure>,
    check: (...asked) => readLarge('check', ...asked) as Promise<Measure>,
    readCompletion: (...asked) => readLarge('readCompletion', ...asked) as Promise<Completion>,
    readCode: (...asked) => run('readCode', ...asked) as Promise<CodeFindings>,
    async close() {
      closed = true;
      await (job?.worker ?? idle)?.terminate();
    },
  };
}

const FAILED: ThreadReply = { failed: 'the thread has ended' };

/** Copies bytes for the thread, which frees the copy: what is lost with the thread is still here. */
function copyOf(json: Buffer): ArrayBuffer {
  const copy = Buffer.allocUnsafeSlow(json.length);
  copy.set(json);
  return copy.buffer;
}

// Validator threads: started when needed, one request at a time each, killed when they run past their deadline, ended when idle.
import { Worker } from 'node:worker_threads';
import { createFairQueue } from '../limits/fair-queue.ts';
import { THREAD_OPTIONS } from '../limits/thread.ts';
import {
  COMPILATION_MAX_MS,
  RESERVED_THREADS,
  THREAD_HEAP_MAX_MB,
  THREADS,
  VALIDATING,
  VALIDATION_MAX_MS,
} from './limits.ts';
import type { ThreadReply, ThreadRequest } from './thread.ts';

/** A thread was killed because it needed too much: for the schema itself, or for the schema and value together. */
export class ThreadStopped extends Error {
  readonly by: 'schema' | 'value';
  constructor(message: string, by: 'schema' | 'value') {
    super(message);
    this.by = by;
  }
}

/** A busy machine gave a thread too little processor time: the same request may succeed later. */
export class ThreadStarved extends Error {
  constructor() {
    super('A JSON Schema could not be checked: the machine gave its thread too little processor time.');
  }
}

export type ThreadPool = {
  /**
   * Waits for a permit of the organization. Rejects with PermitRejected after `waitMaxMs`, if given, with ThreadStopped when the
   * thread needed too much, with ThreadStarved when it got too little, and with another error when it failed for a reason of the
   * service's own.
   */
  run(
    organization: string,
    request: Omit<ThreadRequest, 'organization'>,
    waitMaxMs?: number,
  ): Promise<ThreadReply>;
  close(): Promise<void>;
};

type Job = {
  request: ThreadRequest;
  resolve(reply: ThreadReply): void;
  reject(error: unknown): void;
};
type Thread = { worker: Worker; limits: BigInt64Array; job: Job | undefined; idle?: NodeJS.Timeout };

const PROGRAM = new URL('thread.ts', import.meta.url);
const NOT_STARTED = 0n;
const LOOK_AGAIN_MS = 50;
/**
 * How often to check a thread that is past its deadline but got less than its share of the processor: for 5 s, not counting
 * time in which the whole process was stopped.
 */
const LOOKS_MAX = 100;
/** For how long a thread stays that nobody asks: it takes 25 MB, and another is ready within some 0.1 s. */
const IDLE_MAX_MS = 60_000;
/** For how long an organization's request waits for its own earlier one before another thread is started. */
const BUSY_MAX_MS = VALIDATION_MAX_MS;

/**
 * Creates a pool of threads that organizations share fairly; idle threads do not keep the process alive. Tests may give the
 * threads another program, other times and fewer looks.
 */
export function createThreadPool({
  program = PROGRAM,
  idleMaxMs = IDLE_MAX_MS,
  busyMaxMs = BUSY_MAX_MS,
  looksMax = LOOKS_MAX,
} = {}): ThreadPool {
  const threads = new Set<Thread>();
  /** Jobs that have their permit and wait for a thread. */
  const waiting = new Set<Job>();
  const gate = createFairQueue({ capacity: THREADS, reserved: RESERVED_THREADS });
  let closed = false;

  function addThread(): Thread {
    const shared = new SharedArrayBuffer(24);
    const worker = new Worker(program, {
      workerData: shared,
      ...THREAD_OPTIONS,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MAX_MB, maxYoungGenerationSizeMb: 6 },
    });
    const thread: Thread = { worker, limits: new BigInt64Array(shared), job: undefined };
    threads.add(thread);
    worker.on('message', (reply: ThreadReply) => {
      // A thread that is being ended may still answer.
      if (!threads.has(thread)) return;
      thread.job?.resolve(reply);
      thread.job = undefined;
      worker.unref();
      const [next] = waiting;
      if (next) start(thread, next);
      else thread.idle = setTimeout(() => drop(thread), idleMaxMs).unref();
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const outOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      drop(thread, outOfMemory ? new ThreadStopped(TOO_LARGE, askedBy(thread)) : error);
    });
    worker.on('exit', () => threads.has(thread) && drop(thread, new Error('The validator thread ended')));
    return thread;
  }

  function drop(thread: Thread, error?: unknown): void {
    threads.delete(thread);
    clearTimeout(thread.idle);
    thread.job?.reject(error);
    thread.job = undefined;
    void thread.worker.terminate();
    const [next] = waiting;
    if (next) startAnew(next);
  }

  function assign(job: Job): void {
    const idle = [...threads].find((thread) => thread.job === undefined);
    const waitsForOwn = [...threads].some(
      (thread) => thread.job?.request.organization === job.request.organization,
    );
    if (idle) start(idle, job);
    else if (!waitsForOwn) startAnew(job);
    else {
      waiting.add(job);
      setTimeout(() => waiting.has(job) && startAnew(job), busyMaxMs).unref();
    }
  }

  /** Starts a thread for a job. Where the system allows no more threads, that job fails, and nothing else. */
  function startAnew(job: Job): void {
    try {
      start(addThread(), job);
    } catch (error) {
      waiting.delete(job);
      job.reject(error);
    }
  }

  function start(thread: Thread, job: Job): void {
    waiting.delete(job);
    thread.job = job;
    clearTimeout(thread.idle);
    Atomics.store(thread.limits, 0, NOT_STARTED);
    thread.worker.ref();
    thread.worker.postMessage(job.request);
    watch(thread, job, VALIDATION_MAX_MS);
  }

  /** Checks the thread once the deadline that it set for itself should have passed, and from then on repeatedly. */
  function watch(thread: Thread, job: Job, afterMs: number, looks = 0): void {
    const timer = setTimeout(() => {
      if (thread.job !== job) return;
      const deadline = Atomics.load(thread.limits, 0);
      const leftMs = Number(deadline - process.hrtime.bigint()) / 1e6;
      if (deadline === NOT_STARTED) watch(thread, job, VALIDATION_MAX_MS);
      else if (leftMs > 0) watch(thread, job, leftMs + 1);
      else if (looks >= looksMax) stop(thread, job, new ThreadStarved());
      else {
        void stopIfUsedUp(thread, job);
        watch(thread, job, LOOK_AGAIN_MS, looks + 1);
      }
    }, afterMs);
    timer.unref();
  }

  /** Stops a thread that has used up its processor time; on a busy machine time passes that is not the schema's fault. */
  async function stopIfUsedUp(thread: Thread, job: Job): Promise<void> {
    const used = await thread.worker.cpuUsage().catch(() => undefined);
    if (used && used.user + used.system >= Atomics.load(thread.limits, 1))
      stop(thread, job, new ThreadStopped(TOO_SLOW, askedBy(thread)));
  }

  /** Kills a thread after one more turn of the event loop, which may read an answer that was waiting. */
  function stop(thread: Thread, job: Job, error: Error): void {
    setImmediate(() => thread.job === job && drop(thread, error));
  }

  return {
    async run(organization, request, waitMaxMs = Infinity) {
      using _permit = await gate.acquire(organization, { waitMaxMs });
      if (closed) throw new Error('The validator is closed');
      const { promise, resolve, reject } = Promise.withResolvers<ThreadReply>();
      assign({ request: { organization, ...request }, resolve, reject });
      return await promise;
    },
    async close() {
      closed = true;
      const error = new Error('The validator is closed');
      gate.close(error);
      for (const job of waiting) job.reject(error);
      waiting.clear();
      await Promise.all(
        [...threads].map(({ worker, job }) => {
          job?.reject(error);
          return worker.terminate();
        }),
      );
    },
  };
}

function askedBy({ limits }: Thread): 'schema' | 'value' {
  return Atomics.load(limits, 2) === VALIDATING ? 'value' : 'schema';
}

const TOO_LARGE = 'it takes too much memory to check against';
const TOO_SLOW = `it takes longer than ${VALIDATION_MAX_MS} ms to check against (${COMPILATION_MAX_MS} ms to compile)`;

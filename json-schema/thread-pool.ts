// Validator threads: started when first needed, one request at a time each, killed when they run past their deadline.
import { Worker } from 'node:worker_threads';
import { COMPILATION_MAX_MS, THREAD_HEAP_MAX_MB, VALIDATION_MAX_MS } from './limits.ts';
import type { ThreadReply, ThreadRequest } from './thread.ts';

/** A thread was killed because the schema asked too much of it. */
export class ThreadStopped extends Error {}

export type ThreadPool = {
  /** Rejects with ThreadStopped when the thread had to be killed. */
  run(request: ThreadRequest): Promise<ThreadReply>;
  close(): Promise<void>;
};

type Job = { request: ThreadRequest; resolve(reply: ThreadReply): void; reject(error: unknown): void };
type Thread = { worker: Worker; limits: BigInt64Array; job: Job | undefined };

const NOT_STARTED = 0n;
/** How long a thread is waited for that the machine gives less than its time. */
const STARVED_MAX_MS = 5_000;
const LOOK_AGAIN_MS = 50;

/** A pool of at most `size` threads; idle threads do not keep the process alive. */
export function createThreadPool(size: number): ThreadPool {
  const threads = new Set<Thread>();
  const queue: Job[] = [];
  let closed = false;

  function addThread(): Thread {
    const shared = new SharedArrayBuffer(16);
    const worker = new Worker(new URL('thread.ts', import.meta.url), {
      workerData: shared,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MAX_MB },
    });
    const thread: Thread = { worker, limits: new BigInt64Array(shared), job: undefined };
    threads.add(thread);
    worker.on('message', (reply: ThreadReply) => {
      thread.job?.resolve(reply);
      thread.job = undefined;
      worker.unref();
      serve();
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const outOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      drop(thread, outOfMemory ? new ThreadStopped('it takes too much memory to check against') : error);
    });
    worker.on('exit', () => threads.has(thread) && drop(thread, new Error('The validator thread ended')));
    return thread;
  }

  function drop(thread: Thread, error: unknown): void {
    threads.delete(thread);
    thread.job?.reject(error);
    thread.job = undefined;
    void thread.worker.terminate();
    serve();
  }

  function serve(): void {
    while (queue.length > 0) {
      const idle = [...threads].find(({ job }) => job === undefined);
      if (idle === undefined && threads.size >= size) return;
      const job = queue.shift();
      if (job) start(idle ?? addThread(), job);
    }
  }

  function start(thread: Thread, job: Job): void {
    thread.job = job;
    Atomics.store(thread.limits, 0, NOT_STARTED);
    thread.worker.ref();
    try {
      thread.worker.postMessage(job.request);
      watch(thread, job, VALIDATION_MAX_MS);
    } catch (error) {
      // The value cannot be copied: nested deeper than the stack takes.
      thread.job = undefined;
      thread.worker.unref();
      job.reject(new ThreadStopped(`the value cannot be passed on: ${error}`));
    }
  }

  /** Looks again when the deadline that the thread has set for itself should have passed, and from then on. */
  function watch(thread: Thread, job: Job, afterMs: number): void {
    const timer = setTimeout(() => {
      if (thread.job !== job) return;
      const deadline = Atomics.load(thread.limits, 0);
      const leftMs = Number(deadline - process.hrtime.bigint()) / 1e6;
      if (deadline === NOT_STARTED) watch(thread, job, VALIDATION_MAX_MS);
      else if (leftMs > 0) watch(thread, job, leftMs + 1);
      else if (leftMs < -STARVED_MAX_MS) stop(thread, job);
      else {
        void stopIfUsedUp(thread, job);
        watch(thread, job, LOOK_AGAIN_MS);
      }
    }, afterMs);
    timer.unref();
  }

  /** On a busy machine time passes that the thread does not get: that is not the schema's doing. */
  async function stopIfUsedUp(thread: Thread, job: Job): Promise<void> {
    const used = await thread.worker.cpuUsage().catch(() => undefined);
    if (used && used.user + used.system >= Atomics.load(thread.limits, 1)) stop(thread, job);
  }

  /** After a blocked event loop the answer may lie unread: one more turn reads it. */
  function stop(thread: Thread, job: Job): void {
    setImmediate(() => thread.job === job && drop(thread, new ThreadStopped(TOO_SLOW)));
  }

  return {
    run(request) {
      if (closed) return Promise.reject(new Error('The validator is closed'));
      const { promise, resolve, reject } = Promise.withResolvers<ThreadReply>();
      queue.push({ request, resolve, reject });
      serve();
      return promise;
    },
    async close() {
      closed = true;
      const error = new Error('The validator is closed');
      for (const job of queue.splice(0)) job.reject(error);
      await Promise.all(
        [...threads].map(({ worker, job }) => {
          job?.reject(error);
          return worker.terminate();
        }),
      );
    },
  };
}

const TOO_SLOW = `it takes longer than ${VALIDATION_MAX_MS} ms to check against (${COMPILATION_MAX_MS} ms to compile)`;

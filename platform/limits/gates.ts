// The gates of one process: fair queues between organizations. Each is acquired where work enters the process (an HTTP middleware)
// or a worker's slot (an activity), and by nothing below that.
import { availableParallelism } from 'node:os';
import { createFairQueue, type FairQueue } from './fair-queue.ts';

const MIB = 1024 * 1024;

/** Smaller values need no permit: thousands of them fit, and a process holds them for milliseconds. */
export const SMALL_BYTES = 64 * 1024;

/** The most bytes of requests, and of answers, of one organization in one process. */
export const REQUEST_BYTES_EACH = 32 * MIB;
const REQUEST_BYTES = { capacity: 128 * MIB, reserved: 32 * MIB, perKeyMax: REQUEST_BYTES_EACH };
/** Shorter than a request may take to arrive. */
const REQUEST_BYTES_WAIT_MS = 15_000;

/** Run starts of a process whose own worker carries the runs out: enough to keep the processors busy. */
const STARTS_WITH_WORKER = 4 * availableParallelism();
const STARTS_WITHOUT_WORKER = 32;
/** Run starts that are queued, of one organization and of all. */
export const STARTS_QUEUED_EACH_MAX = 1_000;
export const STARTS_QUEUED_MAX = 4_000;
/** Shorter than clients wait for an answer. */
export const START_WAIT_MAX_MS = 30_000;

/** Weights are bytes where a gate is about bytes, otherwise 1. Keys are organizations. */
export type HttpGates = {
  /** Bytes of request bodies, until their call is stored. */
  bodies: FairQueue;
  /** Bytes of answers, from before they are loaded until they are sent. */
  answers: FairQueue;
  /** Runs that are being started, and in a process with a worker carried out, until they end or wait. */
  runStarts: FairQueue;
};

/** Creates the gates of HTTP requests. `hasWorker`: the worker of this process carries the runs out. */
export function createHttpGates({ hasWorker }: { hasWorker: boolean }): HttpGates {
  const starts = hasWorker ? STARTS_WITH_WORKER : STARTS_WITHOUT_WORKER;
  return {
    bodies: createFairQueue({ ...REQUEST_BYTES, waitMaxMs: REQUEST_BYTES_WAIT_MS }),
    answers: createFairQueue({ ...REQUEST_BYTES, waitMaxMs: REQUEST_BYTES_WAIT_MS }),
    runStarts: createFairQueue({
      capacity: starts,
      reserved: starts,
      queuedMax: STARTS_QUEUED_MAX,
      queuedPerKeyMax: STARTS_QUEUED_EACH_MAX,
      waitMaxMs: START_WAIT_MAX_MS,
    }),
  };
}

// Shared by the API and the worker of one process, to save the database and the engine a question.
import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { RunContext } from '../db/runs/runs.ts';
import type { RunOutcome } from '../flow/run.ts';
import type { Permit } from '../platform/limits/fair-queue.ts';

/** Characters that one process caches, of inputs as JSON and of block keys. */
const CACHED_MAX_CHARS = 64 * 1024 * 1024;
/** More calls than a process runs at a time. The context of a call that ended in another process is evicted later. */
const CONTEXTS_MAX = 2_000;
/** Counted for each context, and for each of its block keys besides their characters: about what they take in memory. */
const CONTEXT_CHARS = 1_024;
const KEY_CHARS = 64;
/** Far more than the gate gives at a time. A permit that is dropped is released by its gate. */
const PERMITS_MAX = 1_000;

export type InProcessRuns = {
  /** Contexts by callId; the worker adds those that are missing. One that is dropped early is read again, and nothing else. */
  contexts: LRUCache<string, RunContext>;
  /** Notes in the context of a call, where it is cached, that a block of it is completed or has paused. */
  complete(callId: string, blockKey: string): void;
  /** Holds the permit of a call that this process's worker may carry out, until the call ends or waits for a model. */
  holdPermit(callId: string, permit: Permit): void;
  /** Releases the permit that is held for a call, if any. */
  releasePermit(callId: string): void;
  /** Tells those who wait in this process that a call has ended, once its end is recorded. */
  end(callId: string, outcome: RunOutcome): void;
  ends: EventEmitter<{ [callId: string]: [RunOutcome] }>;
};

/** Creates what the API and the worker of one process share. A worker without an API has one of its own. */
export function createInProcessRuns(): InProcessRuns {
  const contexts = new LRUCache<string, RunContext>({
    max: CONTEXTS_MAX,
    maxSize: CACHED_MAX_CHARS,
    sizeCalculation: sizeOf,
  });
  // Any number of callers may wait, also for the same call.
  const ends = new EventEmitter<{ [callId: string]: [RunOutcome] }>().setMaxListeners(0);
  const permits = new LRUCache<string, Permit>({ max: PERMITS_MAX });
  function releasePermit(callId: string): void {
    permits.get(callId)?.release();
    permits.delete(callId);
  }
  return {
    contexts,
    ends,
    complete(callId, blockKey) {
      const cached = contexts.info(callId);
      if (!cached || cached.value.completed.has(blockKey)) return;
      const { value: context, size = 0 } = cached;
      context.completed.add(blockKey);
      // The cache takes a new size with a new entry only.
      contexts.delete(callId);
      contexts.set(callId, context, { size: size + sizeOfKey(blockKey) });
    },
    holdPermit(callId, permit) {
      // A request that is repeated meanwhile releases its own permit.
      if (!permits.has(callId)) permits.set(callId, permit);
    },
    releasePermit,
    end(callId, outcome) {
      contexts.delete(callId);
      releasePermit(callId);
      ends.emit(callId, outcome);
    },
  };
}

function sizeOf({ input: { message, ...rest }, completed }: RunContext): number {
  let size = CONTEXT_CHARS + message.length + JSON.stringify(rest).length;
  for (const blockKey of completed) size += sizeOfKey(blockKey);
  return size;
}

function sizeOfKey(blockKey: string): number {
  return KEY_CHARS + blockKey.length;
}

// Shared by the API and the worker of one process, to save the database and the engine a question.
import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { RunContext } from '../db/runs/runs.ts';
import type { RunOutcome } from '../flow/run.ts';
import type { Place } from '../platform/limits/place.ts';
import type { EndTurn } from '../platform/limits/turns.ts';

/** Characters that one process caches, of inputs as JSON and of block keys. */
const CACHED_MAX_CHARS = 64 * 1024 * 1024;
/** More calls than a process carries out at a time: the context of one that ended in another process goes in its turn. */
const CONTEXTS_MAX = 2_000;
/** Counted for each context, and for each of its block keys besides their characters: about what they take in memory. */
const CONTEXT_CHARS = 1_024;
const KEY_CHARS = 64;
/** Far more than may be held at a time; a place that is dropped ends by itself. */
const PLACES_MAX = 1_000;
/** Between two blocks, a run that is carried out takes milliseconds. One that takes longer waits for something that is away. */
const PROGRESS_MAX_MS = 1_000;
/** A block that takes longer is busy in a sandbox process or a validator thread, where organizations take turns as well. */
const BLOCK_MAX_MS = 250;

export type InProcessRuns = {
  /** Contexts by callId; the worker adds those that are missing. One that is dropped early is read again, and nothing else. */
  contexts: LRUCache<string, RunContext>;
  /** Notes in the context of a call, where it is cached, that a block of it is completed or has paused. */
  complete(callId: string, blockKey: string): void;
  /**
   * Keeps the API's place for a call that this process's worker will carry out, until the call ends, waits or stalls, or the
   * returned function is called.
   */
  holdPlace(callId: string, place: Place): EndTurn;
  /** Ends the place that is held for a call, because the call waits for a model or for its turn at something. */
  freePlace(callId: string): void;
  /** Does the work of a block of the call, which is progress when it begins and when it ends. */
  runBlock<T>(callId: string, work: () => Promise<T>): Promise<T>;
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
  const places = new LRUCache<string, Place>({ max: PLACES_MAX });
  function freePlace(callId: string): void {
    places.get(callId)?.end();
    places.delete(callId);
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
    holdPlace(callId, place) {
      // A request that is repeated meanwhile gives its own place back.
      if (!places.has(callId)) places.set(callId, place);
      place.holdFor(PROGRESS_MAX_MS);
      return () => {
        if (places.get(callId) === place) places.delete(callId);
        place.end();
      };
    },
    freePlace,
    async runBlock(callId, work) {
      const place = places.get(callId);
      place?.holdFor(BLOCK_MAX_MS);
      try {
        return await work();
      } finally {
        place?.holdFor(PROGRESS_MAX_MS);
      }
    },
    end(callId, outcome) {
      contexts.delete(callId);
      freePlace(callId);
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

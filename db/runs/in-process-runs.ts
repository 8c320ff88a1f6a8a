// Shared by the API and the worker of one process, to save the database and the engine a question.
import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { EndTurn } from '../../fairness/turns.ts';
import type { RunOutcome } from '../../flow/run.ts';
import type { RunContext } from './runs.ts';

/** Characters of JSON that one process caches. */
const CACHED_MAX_CHARS = 64 * 1024 * 1024;
/** Far more than may be held at a time; a place that is dropped ends by itself (`api/http/admission.ts`). */
const PLACES_MAX = 1_000;

export type InProcessRuns = {
  /** Contexts by callId; the worker adds those that are missing. */
  contexts: LRUCache<string, RunContext>;
  /**
   * Holds the API's turn for a call that this process's worker is about to be given, until the call ends, waits for something,
   * or the returned function is called.
   */
  holdPlace(callId: string, endTurn: EndTurn): EndTurn;
  /** Ends the turn that is held for a call, because the call waits for a model or for its turn at something. */
  freePlace(callId: string): void;
  /** Tells those who wait in this process that a call has ended, once its end is recorded. */
  end(callId: string, outcome: RunOutcome): void;
  ends: EventEmitter<{ [callId: string]: [RunOutcome] }>;
};

export function createInProcessRuns(): InProcessRuns {
  const contexts = new LRUCache<string, RunContext>({
    maxSize: CACHED_MAX_CHARS,
    sizeCalculation: ({ input: { message, ...rest } }) => message.length + JSON.stringify(rest).length,
  });
  // Any number of callers may wait, also for the same call.
  const ends = new EventEmitter<{ [callId: string]: [RunOutcome] }>().setMaxListeners(0);
  const places = new LRUCache<string, EndTurn>({ max: PLACES_MAX });
  function freePlace(callId: string): void {
    places.get(callId)?.();
    places.delete(callId);
  }
  return {
    contexts,
    ends,
    holdPlace(callId, endTurn) {
      // A request that is repeated meanwhile gives its own place back.
      if (!places.has(callId)) places.set(callId, endTurn);
      return () => {
        if (places.get(callId) === endTurn) places.delete(callId);
        endTurn();
      };
    },
    freePlace,
    end(callId, outcome) {
      contexts.delete(callId);
      freePlace(callId);
      ends.emit(callId, outcome);
    },
  };
}

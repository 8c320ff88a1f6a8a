// What an API and a worker in one process tell each other of a run, to save the database and the engine a question.
import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { EndTurn } from '../../fairness/turns.ts';
import type { RunOutcome } from '../../flow/run.ts';
import type { RunContext } from './runs.ts';

/** Characters of JSON kept by one process. */
const KEPT_MAX_CHARS = 64 * 1024 * 1024;

export type InProcessRuns = {
  /** By executionId; the worker fills in what is missing. */
  contexts: LRUCache<string, RunContext>;
  /**
   * Holds a place of the API for a run that this process's worker is about to be given, until the run ends, waits for
   * something, or `endTurn` is called.
   */
  holdPlace(executionId: string, endTurn: EndTurn): EndTurn;
  /** Frees the run's place: the run waits for a model, or for its turn at something. */
  freePlace(executionId: string): void;
  /** Records are in the database: whoever waits for the run in this process is told. */
  end(executionId: string, outcome: RunOutcome): void;
  ends: EventEmitter<{ [executionId: string]: [RunOutcome] }>;
};

export function createInProcessRuns(): InProcessRuns {
  const contexts = new LRUCache<string, RunContext>({
    maxSize: KEPT_MAX_CHARS,
    sizeCalculation: ({ input }) => JSON.stringify(input).length,
  });
  // Any number of callers wait, of one run too.
  const ends = new EventEmitter<{ [executionId: string]: [RunOutcome] }>().setMaxListeners(0);
  const places = new Map<string, EndTurn>();
  function freePlace(executionId: string): void {
    places.get(executionId)?.();
    places.delete(executionId);
  }
  return {
    contexts,
    ends,
    holdPlace(executionId, endTurn) {
      // A request that is repeated meanwhile gives its own place back.
      if (!places.has(executionId)) places.set(executionId, endTurn);
      return () => {
        if (places.get(executionId) === endTurn) places.delete(executionId);
        endTurn();
      };
    },
    freePlace,
    end(executionId, outcome) {
      contexts.delete(executionId);
      freePlace(executionId);
      ends.emit(executionId, outcome);
    },
  };
}

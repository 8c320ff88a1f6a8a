// What an API and a worker in one process tell each other of a run, to save the database and the engine a question.
import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { RunOutcome } from '../../flow/run.ts';
import type { RunContext } from './runs.ts';

/** Characters of JSON kept by one process. */
const KEPT_MAX_CHARS = 64 * 1024 * 1024;

export type InProcessRuns = {
  /** By executionId; the worker fills in what is missing. */
  contexts: LRUCache<string, RunContext>;
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
  return {
    contexts,
    ends,
    end(executionId, outcome) {
      contexts.delete(executionId);
      ends.emit(executionId, outcome);
    },
  };
}

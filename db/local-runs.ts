// What an API and a worker in one process tell each other of a run, to save the database and the engine a question.
import { EventEmitter } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { RunOutcome } from '../flow/run.ts';
import type { RunContext } from './runs.ts';

export type LocalRuns = {
  /** By executionId; the worker fills in what is missing. */
  contexts: LRUCache<string, Promise<RunContext>>;
  /** The ends recorded in this process: event = executionId. */
  ends: EventEmitter<{ [executionId: string]: [RunOutcome] }>;
};

/** Knowledge of the latest 1,000 runs. */
export function createLocalRuns(): LocalRuns {
  return { contexts: new LRUCache({ max: 1_000 }), ends: new EventEmitter() };
}

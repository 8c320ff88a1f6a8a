import type { Client } from '@temporalio/client';
import type { InProcessRuns } from '../activities/in-process-runs.ts';
import type { Db } from '../db/connect.ts';

/** The engine, and the task queue of runs. */
export type Engine = { client: Client; taskQueue: string };

/** The engine with the rows beside it. */
export type EngineDeps = Engine & {
  db: Db;
  /** Set where a worker runs in this process. */
  inProcessRuns?: InProcessRuns;
  /** Aborted when the process is asked to end. */
  stopping?: AbortSignal;
};

import type { Client } from '@temporalio/client';
import type { Db } from '../db/connect.ts';
import type { InProcessRuns } from '../db/runs/in-process-runs.ts';

/** What reaches the engine, and the rows beside it. */
export type EngineDeps = {
  db: Db;
  client: Client;
  config: { taskQueue: string };
  /** Where a worker runs in this process. */
  inProcessRuns?: InProcessRuns;
  /** Aborted when the process is asked to end. */
  stopping?: AbortSignal;
};

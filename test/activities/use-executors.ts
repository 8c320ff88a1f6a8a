import { createBlockExecutor } from '../../activities/block-executor.ts';
import { createInProcessRuns } from '../../activities/in-process-runs.ts';
import type { Db } from '../../db/connect.ts';
import { createFlowDefinitions } from '../../db/flows/flow-definitions.ts';
import { createValidator } from '../../platform/json-schema/validator.ts';
import { createFairQueue } from '../../platform/limits/fair-queue.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { createTestGates } from './test-gates.ts';

/** Sets up a database, and makes executors of blocks on it: each is that of another process, unless it is given its runs. */
export function useExecutors() {
  const validator = createValidator();
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(async () => {
    await validator.close();
    await database.drop();
  });
  return {
    get db(): Db {
      return database.db;
    },
    createExecutor: (inProcessRuns = createInProcessRuns()) =>
      createBlockExecutor({
        db: database.db,
        validator,
        inProcessRuns,
        definitions: createFlowDefinitions(database.db),
        balanceLimit: createFairQueue({ capacity: 1 }),
        gates: createTestGates(),
      }),
  };
}

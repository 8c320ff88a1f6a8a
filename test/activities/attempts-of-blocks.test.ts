import assert from 'node:assert/strict';
import { createBlockExecutor } from '../../activities/block-executor.ts';
import { createFlowDefinitions } from '../../db/flows/flow-definitions.ts';
import { listBlockRuns } from '../../db/runs/block-runs.ts';
import { createInProcessRuns } from '../../db/runs/in-process-runs.ts';
import { createOrganizationLimit } from '../../fairness/organization-limit.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { createValidator } from '../../json-schema/validator.ts';
import { createLargeValues } from '../../large-values/large-values.ts';
import { code } from '../blocks.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { attemptOf } from './attempt-of.ts';

describe('the attempts of a code block', () => {
  const validator = createValidator();
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(async () => {
    await validator.close();
    await database.drop();
  });

  for (const [why, refusals, attempts] of [
    ['do not count those that were lost with their workers', 0, 1],
    ['count those for which there was no process', 2, 3],
  ] as const)
    it(why, async () => {
      const { db } = database;
      const { runs } = await openAccount(db, 0, 1, [code('a', 'return 1;')]);
      const [callId = ''] = runs;
      const executor = createBlockExecutor({
        db,
        validator,
        definitions: createFlowDefinitions(db),
        balanceLimit: createOrganizationLimit(1),
        inProcessRuns: createInProcessRuns(),
        largeValues: createLargeValues(),
      });
      const execution = { callId, stepId: 'a', blockKey: 'a', input: { ref: MESSAGE_REF }, ends: false };
      const fourth = { ...attemptOf(4), number: 4, refusals };
      await executor.run(execution, fourth, async () => ({ output: 1 }));
      const [block] = await listBlockRuns(db, callId);
      assert.equal(block?.attempts, attempts);
    });
});

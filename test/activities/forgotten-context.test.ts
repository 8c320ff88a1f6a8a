import assert from 'node:assert/strict';
import type { BlockExecution } from '../../activities/block-execution.ts';
import { createBlockExecutor } from '../../activities/block-executor.ts';
import { createFlowDefinitions } from '../../db/flows/flow-definitions.ts';
import { createInProcessRuns } from '../../db/runs/in-process-runs.ts';
import { createOrganizationLimit } from '../../fairness/organization-limit.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { createValidator } from '../../json-schema/validator.ts';
import { createLargeValues } from '../../large-values/large-values.ts';
import { passthrough } from '../blocks.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { attemptOf } from './attempt-of.ts';

describe('a run under way whose context its process has forgotten', () => {
  const validator = createValidator();
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(async () => {
    await validator.close();
    await database.drop();
  });

  it('goes on, its context is read again, and none of its blocks is carried out twice', async () => {
    const { db } = database;
    const { runs } = await openAccount(db, 0, 1, [passthrough('first'), passthrough('next')]);
    const [callId = ''] = runs;
    const inProcessRuns = createInProcessRuns();
    const ended: unknown[] = [];
    inProcessRuns.ends.on(callId, (outcome) => ended.push(outcome));
    const executor = createBlockExecutor({
      db,
      validator,
      inProcessRuns,
      definitions: createFlowDefinitions(db),
      balanceLimit: createOrganizationLimit(1),
      largeValues: createLargeValues(),
    });
    const carriedOut: string[] = [];
    const executionOf = (stepId: string, ends = false) => {
      return { callId, stepId, blockKey: stepId, input: { ref: MESSAGE_REF }, ends };
    };
    const execute = (execution: BlockExecution, meanwhile?: () => Promise<unknown>) =>
      executor.run(execution, attemptOf(1), async () => {
        carriedOut.push(execution.stepId);
        inProcessRuns.contexts.clear();
        await meanwhile?.();
        return { output: execution.stepId };
      });

    // The process reads the context again for another block while this one is carried out.
    const first = await execute(executionOf('first'), () => executor.find(executionOf('next')));
    assert.deepEqual([...(inProcessRuns.contexts.get(callId)?.completed ?? [])], ['first']);
    assert.deepEqual(await execute(executionOf('first')), first);
    inProcessRuns.contexts.clear();
    assert.deepEqual(await execute(executionOf('first')), first);
    const result = await execute(executionOf('next', true));
    assert.deepEqual(carriedOut, ['first', 'next']);
    assert.deepEqual(ended, [{ status: 'completed', result }]);
  });
});

import assert from 'node:assert/strict';
import type { BlockExecution } from '../../activities/block-execution.ts';
import { createInProcessRuns } from '../../activities/in-process-runs.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { passthrough } from '../blocks.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { attemptOf } from './attempt-of.ts';
import { useExecutors } from './use-executors.ts';

describe('a run under way whose context its process has forgotten', () => {
  const executors = useExecutors();

  it('goes on, its context is read again, and none of its blocks is carried out twice', async () => {
    const { db } = executors;
    const { runs } = await openAccount(db, 0, 1, [passthrough('first'), passthrough('next')]);
    const [callId = ''] = runs;
    const inProcessRuns = createInProcessRuns();
    const ended: unknown[] = [];
    inProcessRuns.ends.on(callId, (outcome) => ended.push(outcome));
    const executor = executors.createExecutor(inProcessRuns);
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

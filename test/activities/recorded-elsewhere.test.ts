import assert from 'node:assert/strict';
import type { BlockExecution } from '../../activities/block-execution.ts';
import type { BlockExecutor } from '../../activities/block-executor.ts';
import { createInProcessRuns } from '../../activities/in-process-runs.ts';
import { beginModelCall } from '../../db/credits/reservations.ts';
import { getRunContext } from '../../db/runs/runs.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { code, llm } from '../blocks.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { attemptOf } from './attempt-of.ts';
import { useExecutors } from './use-executors.ts';

describe('blocks that another worker has recorded under a lost workflow task', () => {
  const executors = useExecutors();

  for (const [kind, first, carriedOutAgain] of [
    ['whose first one asked a model are not carried out again', llm('first', 'x', 'demo/chat'), []],
    ['are not carried out again after the first one', code('first', 'return 1;'), ['first']],
  ] as const)
    it(`${kind} by a worker that knew of none of them`, async () => {
      const { db } = executors;
      const account = await openAccount(db, 1_000, 1, [first, code('next', 'return 2;')]);
      const [callId = ''] = account.runs;
      const inProcessRuns = createInProcessRuns();
      inProcessRuns.contexts.set(callId, await getRunContext(db, callId));
      const carriedOut: string[] = [];
      const execute = (executor: BlockExecutor, stepId: string) => {
        const execution: BlockExecution = {
          callId,
          stepId,
          blockKey: stepId,
          input: { ref: MESSAGE_REF },
          ends: false,
        };
        return executor.run(execution, attemptOf(1), async ({ block }) => {
          if (block.processor_type === 'llm')
            await beginModelCall(db, { ...account, ...execution, provider: 'demo', microcredits: 100 });
          carriedOut.push(stepId);
          return { output: stepId };
        });
      };
      const executeAll = async (executor: BlockExecutor) => {
        const outputs = [await execute(executor, 'first'), await execute(executor, 'next')];
        return [outputs, carriedOut.splice(0)];
      };

      const [outputs, asFirst] = await executeAll(executors.createExecutor());
      assert.deepEqual(asFirst, ['first', 'next']);
      const again = await executeAll(executors.createExecutor(inProcessRuns));
      assert.deepEqual(again, [outputs, carriedOutAgain]);
    });
});

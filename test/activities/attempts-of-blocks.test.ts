import assert from 'node:assert/strict';
import { listBlockRuns } from '../../db/runs/block-runs.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { code } from '../blocks.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { attemptOf } from './attempt-of.ts';
import { useExecutors } from './use-executors.ts';

describe('the attempts of a code block', () => {
  const executors = useExecutors();

  for (const [why, refusals, attempts] of [
    ['do not count those that were lost with their workers', 0, 1],
    ['count those for which there was no process', 2, 3],
  ] as const)
    it(why, async () => {
      const { db } = executors;
      const { runs } = await openAccount(db, 0, 1, [code('a', 'return 1;')]);
      const [callId = ''] = runs;
      const execution = { callId, stepId: 'a', blockKey: 'a', input: { ref: MESSAGE_REF }, ends: false };
      const fourth = { ...attemptOf(4), number: 4, refusals };
      await executors.createExecutor().run(execution, fourth, async () => ({ output: 1 }));
      const [block] = await listBlockRuns(db, callId);
      assert.equal(block?.attempts, attempts);
    });
});

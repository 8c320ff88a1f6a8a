import assert from 'node:assert/strict';
import type { Sandbox } from '../../activities/code/sandbox.ts';
import { SandboxCrashed } from '../../activities/code/sandbox-errors.ts';
import { runCode } from '../../activities/run-code.ts';
import { listBlockRuns } from '../../db/runs/block-runs.ts';
import { findBlockTrace } from '../../db/runs/block-traces.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { createFairQueue } from '../../platform/limits/fair-queue.ts';
import { code } from '../blocks.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { attemptOf } from './attempt-of.ts';
import { createTestGates } from './test-gates.ts';
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

  it('count those that crashed their sandbox, and the trace keeps them', async () => {
    const { db } = executors;
    const [callId = ''] = (await openAccount(db, 0, 1, [code('a', 'return 1;')])).runs;
    const execution = { callId, stepId: 'a', blockKey: 'a', input: { ref: MESSAGE_REF }, ends: false };
    const errors = [new SandboxCrashed('ended (SIGSEGV)'), new SandboxCrashed('ended (SIGSEGV)')];
    const sandbox = {
      async run() {
        const error = errors.shift();
        if (error) throw error;
        return { output: 1 };
      },
    } as unknown as Sandbox;
    const balanceLimit = createFairQueue({ capacity: 1 });
    const deps = { sandbox, gates: createTestGates(), db, balanceLimit, codePrice: 0 };
    await runCode(deps, executors.createExecutor(), execution, attemptOf(1));
    const block = await findBlockTrace(db, callId, 'a');
    assert.equal(block?.attempts, 3);
    assert.deepEqual(
      block?.failed_attempts?.map(({ number, code, message }) => [number, code, message]),
      [1, 2].map((number) => [number, 'CODE_ERROR', 'The code crashed its sandbox.']),
    );
  });
});

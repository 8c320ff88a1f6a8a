import assert from 'node:assert/strict';
import { countReasons } from '../../../../console/runs/run.ts';
import { repeatedAlready } from '../../../../db/runs/insert-calls.ts';

describe('the reasons for which runs were not retried', () => {
  const refuse = (code: 'CONFLICT' | 'INTERNAL_ERROR', errorMessage: string) => ({
    ...{ executionId: 'run', code, errorMessage },
  });

  it('are counted by message, whichever run a message names', () => {
    const repeated = [1, 2].map(() => refuse('CONFLICT', repeatedAlready(crypto.randomUUID()).message));
    const reasons = countReasons([
      refuse('INTERNAL_ERROR', 'Its request is not stored any more.'),
      ...repeated,
    ]);
    assert.deepEqual(reasons, [
      ['This run was run again already.', 2],
      ['Its request is not stored any more.', 1],
    ]);
  });

  it('differ for runs that were started with tools and runs that were run again', () => {
    const reasons = countReasons([
      refuse('CONFLICT', repeatedAlready(crypto.randomUUID()).message),
      refuse('CONFLICT', 'This run was started with tools.'),
    ]);
    assert.equal(reasons.length, 2);
  });
});

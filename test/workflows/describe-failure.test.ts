import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/common';
import { ServiceError } from '../../flow/errors.ts';
import type { PlannedBlock } from '../../flow/plan.ts';
import { BlockFailure } from '../../workflows/block-scheduler.ts';
import { describeFailure } from '../../workflows/describe-failure.ts';

const ID = '1d9cbb4e-9d6c-4e3b-b1c8-5d3a4f2e7f10';
const block = { type: 'sequential', step_id: 's1', name: 'Sort' } as PlannedBlock;
const describeBlock = (cause: unknown, iterations: number[] = []) =>
  describeFailure(new BlockFailure(block, iterations, cause), ID);

describe('what a caller is told of a run that failed', () => {
  it('is an error that was made for callers, word for word', () => {
    const failure = ApplicationFailure.nonRetryable('line 3: x is not defined.', 'CODE_ERROR');
    assert.deepEqual(describeBlock(failure), {
      code: 'CODE_ERROR',
      message: 'Block "Sort" (s1): line 3: x is not defined.',
      reason: 'error',
      step_id: 's1',
    });
  });

  it('has U+FFFD where its words have U+0000 or half a surrogate pair, which no JSON operator of PostgreSQL takes', () => {
    const failure = ApplicationFailure.nonRetryable('no \0 and \ud800.', 'CODE_ERROR');
    assert.equal(describeBlock(failure).message, 'Block "Sort" (s1): no \ufffd and \ufffd.');
  });

  it('names the iteration of each loop around the block', () => {
    const failure = ApplicationFailure.nonRetryable('it is odd.', 'CODE_ERROR');
    const { message, iterations } = describeBlock(failure, [2, 0]);
    assert.deepEqual([message, iterations], ['Block "Sort" (s1#2.0): it is odd.', [2, 0]]);
  });

  it('names the step, and its iteration, that an error of no block is about', () => {
    const place = { step_id: 'each', iterations: [1] };
    const error = new ServiceError('LOOP_INPUT_NOT_ARRAY', 'The loop each needs an array.', place);
    assert.partialDeepStrictEqual(describeFailure(error, ID), { code: 'LOOP_INPUT_NOT_ARRAY', ...place });
  });

  for (const failure of [
    ApplicationFailure.nonRetryable('connect ECONNREFUSED 127.0.0.1:5432', 'Error'),
    ApplicationFailure.nonRetryable('The database is lost: Connection terminated', 'ConnectionFailed'),
    ApplicationFailure.nonRetryable('invalid byte sequence for encoding "UTF8": 0x00', 'error'),
    ApplicationFailure.nonRetryable('no type'),
    new TypeError('undefined is not a function'),
  ])
    it(`is nothing of "${failure.message}" but where the log has it`, () => {
      const message = `failed for a reason inside the service (reference ${ID}).`;
      const told = { code: 'INTERNAL_ERROR', reason: 'error' };
      assert.deepEqual(describeFailure(failure, ID), { ...told, message: `The run ${message}` });
      const ofBlock = { ...told, message: `Block "Sort" (s1): it ${message}`, step_id: 's1' };
      assert.deepEqual(describeBlock(failure), ofBlock);
    });
});

import assert from 'node:assert/strict';
import { getCaseOfRun } from '../../../../console/flow/tests/case-draft.ts';

describe('the test case of a run', () => {
  const input = { message: 'm', parameters: { n: 1 } };

  it('has its input, and expects the result that it ended with', () => {
    assert.deepEqual(getCaseOfRun(input, { result: [1] }), {
      ...input,
      expectation: { type: 'equals', value: [1] },
    });
    assert.deepEqual(getCaseOfRun(input, undefined), input);
  });

  it('does not expect a result with which it would be too long to be stored, and says so', () => {
    const { expectation, note, ...rest } = getCaseOfRun(input, { result: 'x'.repeat(500_000) });
    assert.deepEqual([expectation, rest], [undefined, input]);
    assert.match(note ?? '', /not taken over.* at most 500,000 characters/);
  });

  it('is not made of an input that is too long to be stored', () => {
    const message = 'x'.repeat(500_000);
    assert.throws(() => getCaseOfRun({ message }, undefined), /too long for a test case/);
  });
});

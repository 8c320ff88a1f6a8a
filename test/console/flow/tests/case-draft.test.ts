import assert from 'node:assert/strict';
import { getCaseOfRun } from '../../../../console/flow/tests/test-case.ts';

describe('the test case of a run', () => {
  const input = { message: 'm', parameters: { n: 1 } };

  it("has the run's input, and expects its result", () => {
    assert.deepEqual(getCaseOfRun(input, { result: [1] }), {
      ...input,
      expectation: { type: 'equals', value: [1] },
    });
    assert.deepEqual(getCaseOfRun(input, undefined), input);
  });

  it('omits a result that is too long, and says so', () => {
    const { expectation, note, ...rest } = getCaseOfRun(input, { result: 'x'.repeat(500_000) });
    assert.deepEqual([expectation, rest], [undefined, input]);
    assert.match(note ?? '', /not taken over.* at most 500,000 characters/);
  });

  it('is not made of an input that is too long', () => {
    const message = 'x'.repeat(500_000);
    assert.throws(() => getCaseOfRun({ message }, undefined), /too long for a test case/);
  });
});

import assert from 'node:assert/strict';
import { createAnswerLengths } from '../../../activities/model/answer-lengths.ts';

describe('the expected length of an answer', () => {
  const asked = { organizationId: 'acme', model: 'openai/gpt-5', stepId: 'ask' };
  const other = { ...asked, stepId: 'other' };

  it('is 1,000 tokens until the model has answered', () => {
    assert.equal(createAnswerLengths().expect(asked), 1_000);
  });

  it('rises at once with a longer answer, and falls slowly with shorter ones', () => {
    const lengths = createAnswerLengths();
    const after = (tokens: number) => {
      lengths.add(asked, tokens);
      return lengths.expect(asked);
    };
    assert.deepEqual([100, 5_000, 0, 0].map(after), [100, 5_000, 4_000, 3_200]);
  });

  it('is that of other blocks before the first answer to a block, and at most 1,000 tokens then', () => {
    const lengths = createAnswerLengths();
    lengths.add(asked, 7);
    assert.equal(lengths.expect(other), 7);
    lengths.add(asked, 5_000);
    assert.equal(lengths.expect(other), 1_000);
    lengths.add(other, 3);
    assert.deepEqual([lengths.expect(other), lengths.expect(asked)], [3, 5_000]);
  });

  it('is known by organization and model', () => {
    const lengths = createAnswerLengths();
    lengths.add(asked, 7);
    assert.deepEqual(
      [
        lengths.expect({ ...asked, model: 'openai/gpt-4o' }),
        lengths.expect({ ...asked, organizationId: 'b' }),
      ],
      [1_000, 1_000],
    );
  });
});

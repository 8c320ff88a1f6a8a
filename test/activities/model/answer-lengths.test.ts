import assert from 'node:assert/strict';
import { createAnswerLengths } from '../../../activities/model/answer-lengths.ts';

describe('the expected length of an answer', () => {
  it('is 1,000 tokens until the model has answered', () => {
    assert.equal(createAnswerLengths().expect('acme', 'openai/gpt-5'), 1_000);
  });

  it('rises at once with a longer answer, and falls slowly with shorter ones', () => {
    const lengths = createAnswerLengths();
    const after = (tokens: number) => {
      lengths.add('acme', 'openai/gpt-5', tokens);
      return lengths.expect('acme', 'openai/gpt-5');
    };
    assert.deepEqual([100, 5_000, 0, 0].map(after), [100, 5_000, 4_000, 3_200]);
  });

  it('is known by organization and model', () => {
    const lengths = createAnswerLengths();
    lengths.add('acme', 'openai/gpt-5', 7);
    assert.deepEqual(
      [lengths.expect('acme', 'openai/gpt-4o'), lengths.expect('other', 'openai/gpt-5')],
      [1_000, 1_000],
    );
  });
});

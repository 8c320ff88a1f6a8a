import assert from 'node:assert/strict';
import { ANSWER_TOKENS_DEFAULT, estimateUsage } from '../../activities/estimate-usage.ts';

describe('estimateUsage', () => {
  const prompt = (content: unknown) => ({ messages: [{ role: 'user', content }] });

  it('counts a token per four characters of all that is asked, rounded up', () => {
    const bare = estimateUsage(prompt('')).promptTokens;
    assert.equal(estimateUsage(prompt('x'.repeat(4_000))).promptTokens, bare + 1_000);
    assert.equal(estimateUsage({}).promptTokens, 1);
    const tools = estimateUsage({ ...prompt(''), tools: [{ name: 'x'.repeat(400) }] });
    assert(tools.promptTokens >= bare + 100);
  });

  it('counts an image the same whatever its address', () => {
    const withImage = (url: string) =>
      estimateUsage(prompt([{ type: 'image_url', image_url: { url } }])).promptTokens;
    assert.equal(
      withImage('https://example.com/a.png'),
      withImage(`https://example.com/${'a'.repeat(2_000)}`),
    );
    assert(withImage('https://example.com/a.png') > 1_000);
  });

  it(`expects an answer of max_tokens, else of ${ANSWER_TOKENS_DEFAULT}`, () => {
    assert.equal(estimateUsage({}, 7).completionTokens, 7);
    assert.equal(estimateUsage({}, undefined).completionTokens, ANSWER_TOKENS_DEFAULT);
  });
});

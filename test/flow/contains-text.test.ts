import assert from 'node:assert/strict';
import { containsText } from '../../flow/test-case.ts';

describe('containsText', () => {
  it('finds what includes finds', () => {
    const texts = ['', 'a', 'b', 'ab', 'aab', 'abab', 'aabaab', 'abaabaaab', 'é\u{1f600}b', '\ud83d'];
    for (const text of texts)
      for (const part of texts)
        assert.equal(containsText(text, part), text.includes(part), `${text} ${part}`);
  });

  it('ends for texts of which a part nearly fits at every place', () => {
    assert.equal(containsText('a'.repeat(24_000_000), `ab${'a'.repeat(19_998)}`), false);
  });
});

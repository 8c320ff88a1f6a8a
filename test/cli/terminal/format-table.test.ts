import assert from 'node:assert/strict';
import { formatTable } from '../../../cli/terminal/format-table.ts';

describe('formatTable', () => {
  it('replaces control characters in names, including those that reverse text', () => {
    const name = 'a\u001b[31m\u202eb\u2066c\u2028d\ne';
    const text = formatTable(['slug', 'name'], [['x', name]], '');
    assert.equal(text, 'SLUG  NAME\nx     a\ufffd[31m\ufffdb\ufffdc d e');
  });
});

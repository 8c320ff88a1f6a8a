import assert from 'node:assert/strict';
import { table } from '../../cli/answer.ts';

describe('tables of the command line', () => {
  it('show control characters of names, also those that turn text around, instead of obeying them', () => {
    const name = 'a\u001b[31m\u202eb\u2066c\u2028d\ne';
    const text = table(['slug', 'name'], [['x', name]], '');
    assert.equal(text, 'SLUG  NAME\nx     a\ufffd[31m\ufffdb\ufffdc d e');
  });
});

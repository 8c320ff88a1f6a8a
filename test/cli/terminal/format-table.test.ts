import assert from 'node:assert/strict';
import { escapeControls, formatTable } from '../../../cli/terminal/format-table.ts';

describe('formatTable', () => {
  it('replaces control characters in names, including those that reverse text', () => {
    const name = 'a\u001b[31m\u202eb\u2066c\u2028d\ne';
    const text = formatTable(['slug', 'name'], [['x', name]], '');
    assert.equal(text, 'SLUG  NAME\nx     a\ufffd[31m\ufffdb\ufffdc d e');
  });
});

describe('escapeControls', () => {
  it('escapes control characters, and those that reverse text, so that JSON reads as before, and leaves line feeds and tabs', () => {
    const value = { text: 'a\u009b31m\u007f\u001b\r\n\tb' };
    const text = escapeControls(JSON.stringify(value, null, 2));
    assert.match(text, /^\{\n {2}"text": "a\\u009b31m\\u007f\\u001b\\r\\n\\tb"\n\}$/);
    assert.deepEqual(JSON.parse(text), value);
    assert.equal(escapeControls('a\u001b[2J\n\tb'), 'a\\u001b[2J\n\tb');
    assert.equal(escapeControls('a\u202eb\u2066\u200f'), 'a\\u202eb\\u2066\u200f');
  });
});

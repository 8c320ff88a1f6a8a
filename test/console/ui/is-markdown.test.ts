import assert from 'node:assert/strict';
import { isMarkdown } from '../../../console/ui/markdown/is-markdown.ts';

describe('a text in Markdown', () => {
  it('is recognized by headings, lists, code, emphasis, tables and links', () => {
    for (const text of [
      '# Report',
      'Answer:\n\n## Two\ntext',
      '- one\n- two',
      'First:\n1. one\n2. two',
      '- one\n\n- two',
      'Use **this** one.',
      '```js\nconst x = 1;\n```',
      '| a | b |\n|---|---|\n| 1 | 2 |',
      'See [the page](https://example.com/a).',
    ])
      assert.equal(isMarkdown(text), true, text);
  });

  it('is not mistaken for plain text, code or JSON', () => {
    for (const text of [
      '',
      'A sentence. Another one.',
      '- one line that begins with a dash',
      '#hashtag and 3 * 4 ** 5',
      'return a ** b;',
      '{"a": [1, 2]}',
      'array[0](x)',
      '2026-11-30: done',
    ])
      assert.equal(isMarkdown(text), false, text);
  });
});

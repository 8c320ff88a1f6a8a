import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { listPages, measureProse, SENTENCE_MAX_WORDS } from '../../docs/measure-prose.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const WORDS_MAX = 35_000;
const LONG_SENTENCES_MAX_SHARE = 0.1;
/** The least share of code in the words of pages about calls. */
const CODE_MIN_SHARE = 1 / 3;
const ABOUT_CALLS = [
  'attachments',
  'retry-and-fork',
  'run-and-wait',
  'start-and-poll',
  'step-by-step',
  'tool-calls',
  'webhooks',
].map((name) => `docs/${name}.md`);

describe('the prose of the documentation', () => {
  const pages = listPages(ROOT).map((page) =>
    measureProse(page, readFileSync(path.join(ROOT, page), 'utf8')),
  );

  it(`has at most ${WORDS_MAX} words on all pages together`, () => {
    const words = pages.reduce((sum, page) => sum + page.words, 0);
    assert.ok(words > 0);
    assert.ok(words <= WORDS_MAX, `${words} words`);
  });

  for (const { page, words, code } of pages.filter(({ page }) => ABOUT_CALLS.includes(page)))
    it(`is at most two thirds of the words of a page about calls, and the rest is code: ${page}`, () => {
      assert.ok(code >= CODE_MIN_SHARE * words, `${code} of ${words} words are code`);
    });

  for (const { page, sentences, long } of pages)
    it(`has over ${SENTENCE_MAX_WORDS} words in at most one sentence of ten: ${page}`, () => {
      assert.ok(
        long.length <= LONG_SENTENCES_MAX_SHARE * sentences,
        `${long.length} of ${sentences} sentences are too long:\n${long.join('\n')}`,
      );
    });
});

describe('measureProse', () => {
  /** A sentence of as many words. */
  const sentence = (words: number) => `It ${'says '.repeat(words - 2)}so.`;
  const measure = (text: string) => {
    const { sentences, long } = measureProse('page.md', text);
    return { sentences, long: long.length };
  };

  it('counts a sentence as long from one word above the limit', () => {
    assert.deepEqual(measure(`${sentence(SENTENCE_MAX_WORDS)} ${sentence(SENTENCE_MAX_WORDS + 1)}`), {
      sentences: 2,
      long: 1,
    });
  });

  it('counts inline code as one word, and a link as its text', () => {
    const text = `${sentence(SENTENCE_MAX_WORDS - 2).slice(0, -1)} \`a b c\` [it](a.md "b c").`;
    assert.deepEqual(measure(text), { sentences: 1, long: 0 });
    assert.deepEqual(measure(`One ${text}`), { sentences: 1, long: 1 });
  });

  it('counts the words of a page as `wc -w` does', () => {
    assert.equal(measureProse('page.md', '# A title\n\n    some code\n\nAnd text.\n').words, 7);
  });

  it('counts the words of code blocks, fenced and indented', () => {
    const text = 'Call `this`:\n\n    some code\n\n```\nand more\n```\n';
    assert.equal(measureProse('page.md', text).code, 6);
  });

  for (const [what, text, sentences] of [
    ['a paragraph of several lines', 'One sentence goes\non here. Another\nfollows.', 2],
    ['sentences that end in quotes, brackets or emphasis', '**It is so.** (It is.) “It is.” It is.', 4],
    ['a sentence that begins with inline code', 'It is so. `npm test` runs. `weir` runs.', 3],
    ['stops in inline code, links and numbers', 'Call `a. B? c` or [it](x.md "A. B. C") 1.5 times.', 1],
    ['abbreviations', 'Some (e.g. `npm`), i.e. Node, cf. `x` or approx. 5, run.', 1],
    ['inline code over two lines', 'It is `a\nb. C` here.', 1],
    ['a pipe in inline code', 'It is so and so `a | b` and it has more words.', 1],
    [
      'list items, with lines of their own',
      '- This one goes\n  on here.\n- Another goes here.\n1. A third is here.',
      3,
    ],
    ['items without a full stop', '- the name of a thing it has\n- a name\n- `code`', 1],
    ['table cells', '| name | value |\n|---|:--|\n| `a` | It is so. It is. |\n| b | 5 ms |', 2],
    ['quotations', '> [!NOTE]\n> One sentence\n> goes here. Two.', 2],
    ['headings and comments', '# It is so. Or not.\n<!-- It is. -->\nIt is so.', 1],
    ['fenced code', 'It is:\n\n```sh\nIt is so. It is.\n```\n\n~~~\nIt is.\n~~~\n', 1],
    ['fenced code in a list', '- It is:\n\n  ```sh\n  It is so. It is.\n  ```\n', 1],
    ['indented code', 'It is:\n\n    It is so. It is.\n\nIt is.', 2],
    ['further paragraphs of a list item', '- It is.\n\n    It is so.', 2],
    ['definitions of links', 'See [it][1].\n\n[1]: https://example.com/It. "It is. So."', 1],
    [
      'front matter, images and tags',
      '---\nname: It is. So.\n---\n![It is. It is.](x.png) <b title="It. Is">It</b> is.',
      1,
    ],
  ] as const)
    it(`counts as a reader does: ${what}`, () => {
      assert.equal(measure(text).sentences, sentences);
    });
});

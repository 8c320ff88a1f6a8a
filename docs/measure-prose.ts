// Counts the words and the long sentences of Markdown pages: node docs/measure-prose.ts [PAGE...]
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** A sentence with more words than this is long. */
export const SENTENCE_MAX_WORDS = 25;
/** A piece of a list or table with fewer words and no full stop is a name or a number, no sentence. */
const SENTENCE_MIN_WORDS = 5;
/** The code of conduct is somebody else's text; generated pages say so in their first line. */
const NOT_COUNTED = /(?:^|\/)CODE_OF_CONDUCT\.md$/;
const GENERATED = /^<!-- generated /;
/** The end of a sentence before the start of another, but not the stop of an abbreviation. */
const BETWEEN_SENTENCES =
  /(?<!(?:^|[\s(])(?:e\.g|i\.e|cf|vs|approx|No)\.)(?<=[.!?…][)"'’”*_\]]*)\s+(?=[(["'“‘*_`]*[\p{Lu}\p{N}`/])/u;
const STOP = /[.!?…:][)"'’”*_\]]*$/;

export type Prose = { page: string; words: number; code: number; sentences: number; long: string[] };

/** Lists the Markdown pages under version control that people wrote, by path from the root of the repository. */
export function listPages(root: string): string[] {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  });
  return files
    .split('\n')
    .filter((page) => page !== '' && !NOT_COUNTED.test(page) && existsSync(`${root}/${page}`))
    .filter((page) => !GENERATED.test(readFileSync(`${root}/${page}`, 'utf8')));
}

/**
 * Measures one page. `words` counts all of its text as `wc -w` does, `code` that of code blocks. `sentences` counts those of
 * paragraphs, list items and table cells; headings and code blocks have none. Inline code counts as one word, a link as its
 * text.
 */
export function measureProse(page: string, text: string): Prose {
  const sentences = splitBlocks(text).flatMap(splitSentences);
  const long = sentences.filter((sentence) => countWords(sentence) > SENTENCE_MAX_WORDS);
  const words = countAll(text);
  return { page, words, code: words - countAll(withoutCode(text)), sentences: sentences.length, long };
}

function countAll(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Splits a page into paragraphs, list items and rows of tables, each on one line with inline code as one word. */
function splitBlocks(text: string): string[] {
  return withoutCode(text)
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/^ *> ?(?:\[!\w+\])?/gm, '')
    .replaceAll(/^ *#+ .*$/gm, '\n')
    .replaceAll(/^ *\[[^\]]+\]: .*$/gm, '\n')
    .replaceAll(/^ *(?:[-*+]|\d+[.)]) +(?:\[[ x]\] )?/gm, '\n\n')
    .replaceAll(/^ *\|/gm, '\n\n|')
    .split(/\n\s*\n/)
    .map((block) =>
      block
        .replaceAll(/\s+/g, ' ')
        .trim()
        .replaceAll(/(`+)(?!`).+?(?<!`)\1(?!`)/g, (code) =>
          code.replaceAll(/\s/g, '_').replaceAll(/[.!?|<>]/g, ''),
        )
        .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
        .replaceAll(/\]\([^)]*\)/g, ']')
        .replaceAll(/<\/?[a-z][^>]*>/g, ''),
    );
}

function withoutCode(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(/^([ >]*)(```+|~~~+).*\n(?:[\s\S]*?\n)?\1\2.*$/gm, '\n')
    .replaceAll(/^(?: {4}|\t)(?!\s*(?:[-*+]|\d+[.)]) ).*$/gm, (line, at: number, all: string) =>
      isIndentedCode(all, at) ? '' : line,
    );
}

/** Whether an indented line is code: the block before ends with an empty line and is not a list item. */
function isIndentedCode(text: string, at: number): boolean {
  const before = text.slice(0, at).split('\n').slice(0, -1);
  while (before.length > 0 && /^(?: {4}|\t|\s*$)/.test(before.at(-1) ?? '')) before.pop();
  const item = before.findLast((line) => /^\S/.test(line)) ?? '';
  return text.slice(0, at).trim() === '' || !/^(?:[-*+]|\d+[.)]) /.test(item) || /^ {8}/.test(text.slice(at));
}

function splitSentences(block: string): string[] {
  const cells = block.startsWith('|') ? block.split(/(?<!\\)\|/) : [block];
  return cells
    .flatMap((cell) => cell.trim().split(BETWEEN_SENTENCES))
    .filter((piece) => (STOP.test(piece) ? countWords(piece) > 0 : countWords(piece) >= SENTENCE_MIN_WORDS));
}

if (process.argv[1] === import.meta.filename) {
  const root = execFileSync('git', ['rev-parse', '--show-toplevel'], { encoding: 'utf8' }).trim();
  const pages = process.argv.length > 2 ? process.argv.slice(2) : listPages(root);
  const measured = pages.map((page) => measureProse(page, readFileSync(page, 'utf8')));
  for (const { page, words, sentences, long } of measured) {
    console.log(`${page}: ${words} words, ${long.length} of ${sentences} sentences are long`);
    if (process.argv.length > 2) for (const sentence of long) console.log(`  ${sentence}`);
  }
  console.log(`all pages: ${measured.reduce((sum, { words }) => sum + words, 0)} words`);
}

// Counts the words and the long sentences of Markdown pages: node docs/measure-prose.ts [PAGE...]
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A sentence with more words than this is long. */
export const SENTENCE_MAX_WORDS = 25;
/** The code of conduct is somebody else's text; generated pages say so in their first line. */
const NOT_COUNTED = /(?:^|\/)CODE_OF_CONDUCT\.md$/;
const GENERATED = /^<!-- generated /;

export type Prose = { page: string; words: number; sentences: number; long: string[] };

/** Lists the Markdown pages under version control that people wrote, by path from the root of the repository. */
export function listPages(root: string): string[] {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  });
  return files
    .split('\n')
    .filter((page) => page !== '' && !NOT_COUNTED.test(page))
    .filter((page) => !GENERATED.test(readFileSync(`${root}/${page}`, 'utf8')));
}

/** Measures one page. `words` counts all of its text as `wc -w` does; sentences are those of prose, lists and tables. */
export function measureProse(page: string, text: string): Prose {
  const sentences = splitSentences(text);
  const long = sentences.filter((sentence) => countWords(sentence) > SENTENCE_MAX_WORDS);
  const words = text.split(/\s+/).filter((word) => word !== '').length;
  return { page, words, sentences: sentences.length, long };
}

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** The sentences of paragraphs, list items and table cells. Headings and code blocks have none. */
function splitSentences(text: string): string[] {
  const prose = text
    .replaceAll(/^---\n[\s\S]*?\n---\n/g, '')
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '\n\n')
    .replaceAll(/^(?: {4}|\t)(?![-*\d]).*$/gm, (line, at: number, all: string) =>
      isIndentedCode(all, at) ? '\n' : line,
    )
    .replaceAll(/^#+ .*$/gm, '\n')
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/^\|?[ :|-]+\|[ :|-]*$/gm, '\n')
    .replaceAll(/(?<!\\)\|/g, '\n\n')
    .replaceAll(/^ *(?:[-*+]|\d+\.) +/gm, '\n\n')
    .replaceAll(/`[^`\n]+`/g, (code) => (/\s/.test(code) ? 'code' : code.replaceAll(/[.!?]/g, '')))
    .replaceAll(/\]\([^)]*\)/g, ']');
  return prose
    .split(/\n\s*\n/)
    .flatMap((block) =>
      block.replaceAll('\n', ' ').split(/(?<=[.!?][)"'”*_\]]*)\s+(?=[(["'“*_`]*[\p{Lu}\p{N}`/])/u),
    )
    .map((sentence) => sentence.trim())
    .filter((sentence) => countWords(sentence) > 0);
}

/** Whether an indented line belongs to a code block: the block before it ends with an empty line and is no list item. */
function isIndentedCode(text: string, at: number): boolean {
  const before = text.slice(0, at).split('\n').slice(0, -1);
  while (before.length > 0 && /^(?: {4}|\t|\s*$)/.test(before.at(-1) ?? '')) before.pop();
  const item = before.findLast((line) => /^\S/.test(line)) ?? '';
  return text.slice(0, at).trim() === '' || !/^(?:[-*+]|\d+\.) /.test(item) || /^ {8}/.test(text.slice(at));
}

if (import.meta.main) {
  const root = execFileSync('git', ['rev-parse', '--show-toplevel'], { encoding: 'utf8' }).trim();
  const pages = process.argv.length > 2 ? process.argv.slice(2) : listPages(root);
  const measured = pages.map((page) => measureProse(page, readFileSync(page, 'utf8')));
  for (const { page, words, sentences, long } of measured) {
    console.log(`${page}: ${words} words, ${long.length} of ${sentences} sentences are long`);
    if (process.argv.length > 2) for (const sentence of long) console.log(`  ${sentence}`);
  }
  console.log(`all pages: ${measured.reduce((sum, { words }) => sum + words, 0)} words`);
}

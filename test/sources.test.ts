import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');
/** A comment that cites a document that is not in this repository. */
const CITATION = /^\s*(?:\/\/|\/?\*).*(?:\((?:spec|security): |\bthe spec\b)/m;
const COMMENT_MAX_LENGTH = 132;
const COMMENT = /^ *(?:\/\/|\/?\*)/;
const CLUMSY_OPENING = /\/\*\*[\s*]*(?:What|Of) /;

describe('the sources', () => {
  const sources = globSync('**/*.{ts,tsx}', {
    cwd: ROOT,
    exclude: (name) => ['node_modules', 'schema.d.ts'].includes(path.basename(name)),
  }).map((file) => ({ file, text: readFileSync(path.join(ROOT, file), 'utf8') }));
  const filesThat = (match: (text: string) => boolean) =>
    sources.filter(({ text }) => match(text)).map(({ file }) => file);

  it('cite no document that readers do not have', () => {
    assert.ok(sources.length > 0);
    assert.deepEqual(
      filesThat((text) => CITATION.test(text)),
      [],
    );
  });

  it('have no doc comment that opens with "What" or "Of"', () => {
    assert.deepEqual(
      filesThat((text) => CLUMSY_OPENING.test(text)),
      [],
    );
  });

  it(`have comments of at most ${COMMENT_MAX_LENGTH} characters a line`, () => {
    const isLong = (line: string) => line.length > COMMENT_MAX_LENGTH && COMMENT.test(line);
    assert.deepEqual(
      filesThat((text) => text.split('\n').some(isLong)),
      [],
    );
  });
});

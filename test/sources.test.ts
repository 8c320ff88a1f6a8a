import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');
const LINES_MAX = 250;
/** A comment that cites a document that is not in this repository. */
const CITATION = /^\s*(?:\/\/|\/?\*).*(?:\((?:spec|security): |\bthe spec\b)/m;
const COMMENT_MAX_LENGTH = 132;
const COMMENT = /^ *(?:\/\/|\/?\*)/;
const EXPORT = /^export (?:async )?(?:function\*?|const|let|class|type|interface) ([\w$]+)/gm;
const NAMED_IMPORT = /\{([^{}]*)\}(?: from |\s*=\s*(?:await )?import\()\s*'(\.[^']+)'/g;
/** An import of one type, or of what is named where it is loaded. */
const NAMED_LATER = /\bimport\(\s*'(\.[^']+)',?\s*\)\.(?:then\(\s*\(\{([^{}]*)\}|([\w$]+))/g;
/** An import that may use each export of a file: one whose names are not said with it. */
const WHOLE_IMPORT = /(?:\* as \w+ from |(?<!\}\s*=\s*(?:await )?)\bimport\()\s*'(\.[^']+)'(?!,?\s*\)\.\w)/g;
/** Exports of files that Temporal, mocha, or migrations load by their path, and one of a text that users copy. */
const BY_PATH =
  /^db\/migrations\/.*: up$|: failureConverter$|: interceptors$|: mochaGlobalTeardown$|failing\/workflows\.ts: |^console\/webhooks\/verify-snippets\.ts: isFromWeir$/;
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

  it('export only what another file imports', () => {
    const imported = new Set<string>();
    for (const { file, text } of sources) {
      const pathOf = (from = '') => path.join(path.dirname(file), from);
      const add = (from = '', names = '') => {
        for (const name of names.split(','))
          imported.add(`${pathOf(from)}: ${/^\s*(?:type )?([\w$]*)/.exec(name)?.[1]}`);
      };
      for (const [, names, from] of text.matchAll(NAMED_IMPORT)) add(from, names);
      for (const [, from, names, name] of text.matchAll(NAMED_LATER)) add(from, names ?? name);
      for (const [, from] of text.matchAll(WHOLE_IMPORT)) imported.add(pathOf(from));
    }
    const unused = sources.flatMap(({ file, text }) =>
      [...text.matchAll(EXPORT)]
        .map(([, name]) => `${file}: ${name}`)
        .filter((exported) => !imported.has(exported) && !imported.has(file) && !BY_PATH.test(exported)),
    );
    assert.deepEqual(unused, []);
  });

  it(`have at most ${LINES_MAX} lines each`, () => {
    assert.deepEqual(
      filesThat((text) => text.trimEnd().split('\n').length > LINES_MAX),
      [],
    );
  });
});

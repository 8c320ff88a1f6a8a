import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../..');
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'console/README.md',
  'deploy/helm/weir/README.md',
  'examples/ci/README.md',
  'examples/clients/README.md',
  ...readdirSync(path.join(ROOT, 'docs'), { encoding: 'utf8', recursive: true })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const CODE_BLOCK = /^```.*?^```$/gms;
const LINK = /\]\(([^()\s]+)\)/g;
const INLINE_CODE = /`([^`\n]+)`/g;
const PATH = /^[\w.-]+\/[\w./-]*$/;
const FILE_NAME = /^[\w-]+\.(?:ts|md|json|yml|yaml|sql|sh|py)$/;

describe('the documentation', () => {
  const folders = readdirSync(ROOT, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !/^(?:node_modules|dist|\.git|\.weir)$/.test(entry.name),
  );
  const folderNames = new Set(folders.map(({ name }) => name));
  const fileNames = new Set([
    ...readdirSync(ROOT),
    ...folders.flatMap(({ name }) =>
      readdirSync(path.join(ROOT, name), { recursive: true }).map((file) => path.basename(String(file))),
    ),
  ]);

  for (const page of PAGES) {
    const text = readPage(page);

    it(`links to pages and headings that exist: ${page}`, () => {
      for (const [, target = ''] of text.matchAll(LINK)) {
        if (/^https?:/.test(target)) continue;
        const [file = '', anchor] = target.split('#');
        const linked = file === '' ? page : path.join(path.dirname(page), file);
        assert.ok(existsSync(path.join(ROOT, linked)), target);
        if (anchor !== undefined) assert.ok(anchorsOf(linked).includes(anchor), target);
      }
    });

    it(`names files that exist: ${page}`, () => {
      for (const [, code = ''] of text.matchAll(INLINE_CODE)) {
        const [folder = ''] = code.split('/');
        if (PATH.test(code) && folderNames.has(folder))
          assert.ok(
            ['.', path.dirname(page)].some((from) => existsSync(path.join(ROOT, from, code))),
            code,
          );
        if (FILE_NAME.test(code)) assert.ok(fileNames.has(code), code);
      }
    });
  }

  it('lists the variables that the service reads, all of them and no other', () => {
    const files = ['platform/config/object-store.ts', 'platform/config/variables.ts'];
    const read = variablesIn(files.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join());
    const listed = variablesIn(readPage('docs/reference.md'));
    assert.deepEqual(
      [...read].filter((name) => !listed.has(name)),
      [],
    );
    const sources = ['platform', 'cli', 'dev', 'worker', 'db'].map(readSources).join('\n');
    assert.deepEqual(
      [...listed].filter((name) => !sources.includes(name)),
      [],
    );
  });

  it('gives a reason for every package that the service depends on', () => {
    const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    const reasons = readPage('docs/decisions/dependencies.md');
    const unexplained = Object.keys(dependencies).filter(
      (name) => !reasons.includes(`\`${name}\``) && !reasons.includes(`\`${path.dirname(name)}/*\``),
    );
    assert.deepEqual(unexplained, []);
  });
});

function readPage(page: string): string {
  return readFileSync(path.join(ROOT, page), 'utf8').replaceAll(CODE_BLOCK, '');
}

/** Ids of headings as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...readPage(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function variablesIn(text: string): Set<string> {
  return new Set(text.match(/\bWEIR_[A-Z_]*[A-Z]\b/g));
}

function readSources(name: string): string {
  const place = path.join(ROOT, name);
  if (name.endsWith('.ts')) return readFileSync(place, 'utf8');
  return readdirSync(place, { recursive: true })
    .filter((file) => String(file).endsWith('.ts'))
    .map((file) => readFileSync(path.join(place, String(file)), 'utf8'))
    .join('\n');
}

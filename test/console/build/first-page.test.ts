import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildConsole } from '../../../console/build/build-console.ts';

const BUILT = path.join(import.meta.dirname, '../../../dist/console');
const BUDGET_BYTES = 250 * 1024;
/** The bytes that a server may send before the browser has acknowledged any. */
const FRAME_MAX_BYTES = 14_000;
/** The sources of the first page and of a project's page. */
const FIRST_PAGES = ['index.html', 'home/project-page.tsx'];

type Chunk = { file: string; imports?: string[]; css?: string[] };

describe('what the first page loads', () => {
  let manifest: { [source: string]: Chunk };

  before(async () => {
    await buildConsole(BUILT);
    manifest = JSON.parse(readFileSync(path.join(BUILT, '.vite/manifest.json'), 'utf8'));
  });

  /** Lists the files that some sources load, with their imports. */
  function load(sources: string[], seen = new Set<string>()): string[] {
    const next = sources.filter((source) => !seen.has(source));
    for (const source of next) seen.add(source);
    return next.flatMap((source) => {
      const {
        file,
        imports = [],
        css = [],
      } = manifest[source] ?? assert.fail(`${source} is not in the manifest.`);
      return [file, ...css, ...load(imports, seen)];
    });
  }

  const read = (file: string) => readFileSync(path.join(BUILT, file));

  it('is at most 250 KB of scripts and styles, compressed', () => {
    const files = [...new Set(load(FIRST_PAGES))];
    const sizes = files.map((file) => [file, gzipSync(read(file)).length] as const);
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    assert.ok(files.some((file) => file.endsWith('.css')));
    assert.ok(
      total <= BUDGET_BYTES,
      `${total} bytes: ${sizes.map(([file, size]) => `${file} ${size}`).join(', ')}`,
    );
  });

  it('has neither the graph nor the code editor, charts or the parser of Markdown', () => {
    const scripts = load(FIRST_PAGES)
      .map((file) => read(file).toString())
      .join('\n');
    for (const [part, mark] of [
      ['React Flow', 'react-flow__'],
      ['CodeMirror', 'cm-editor'],
      ['uPlot', 'u-legend'],
      ['marked', 'github.com/markedjs/marked'],
    ] as const)
      assert.ok(!scripts.includes(mark), part);
  });

  it('begins with a frame that needs neither script nor stylesheet, in its first 14 KB', () => {
    const html = read('index.html').toString();
    assert.match(html.slice(0, html.search(/<link rel="stylesheet"/)), /<p role="status">Loading …<\/p>/);
    assert.ok(html.includes('<link rel="stylesheet"'));
    assert.ok(html.length <= FRAME_MAX_BYTES, `${html.length} bytes`);
  });

  it('is served with the licences of the packages that are in it', () => {
    const licenses = read('assets/licenses.md').toString();
    for (const name of ['react', 'react-dom', '@tanstack/react-query'])
      assert.match(licenses, RegExp(`^## ${name} - `, 'm'));
  });
});

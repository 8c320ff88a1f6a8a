// main of `npm run facts`: prints the size of the code, the tests, the documentation and the API document, and how long the
// last test runs took. It counts files under version control. Source means TypeScript, CSS and SQL without tests and examples. It
// starts a service to measure a request.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { buildDocument } from '../api/reference/build-document.ts';
import { readCases } from '../test/providers/read-cases.ts';
import { listPages, measureProse, type Prose } from './measure-prose.ts';
import { measureRequest } from './measure-request.ts';

const ROOT = path.dirname(import.meta.dirname);
const SOURCE = /\.(?:tsx?|css|sql)$/;
const NO_SOURCE = /^(?:test|examples)\//;
const NO_CORE = ['bench', 'cli', 'console', 'dev', 'docs'];
const FILE_MAX_LINES = 500;
const FOLDER_MAX_FILES = 25;
/** `import … from`, `export … from`, imports for their effects, and dynamic ones. The group is the path, where it is literal. */
const IMPORTS = [
  /^import\s[^'"]*['"]([^'"]+)['"]/gm,
  /^export\s+(?:type\s+)?(?:\*[^'"]*|\{[^}]*\}\s*)from\s*['"]([^'"]+)['"]/gm,
  /\bimport\(\s*(?:['"]([^'"]+)['"])?/g,
];

type File = { name: string; text: string; lines: number };
type Row = (string | number)[];

const files = listFiles();
printSource(files.filter(({ name }) => SOURCE.test(name) && !NO_SOURCE.test(name)));
printTests(files.filter(({ name }) => /^test\/.*\.tsx?$/.test(name)));
printProse(listPages(ROOT).map((page) => measureProse(page, readFileSync(path.join(ROOT, page), 'utf8'))));
const document = JSON.stringify(buildDocument());
print('API document', [['bytes', Buffer.byteLength(document)]]);
const { files: filesRun, functions, frames } = await measureRequest(ROOT);
print('POST …/execute, from the socket to the insert of its run', [
  ['files', filesRun.length],
  ['functions', functions],
  ['stack frames', frames.length],
]);
// The routes may have begun something that waits.
process.exit();

function listFiles(): File[] {
  const names = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.css', '*.sql'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return names
    .split('\n')
    .filter((name) => name !== '' && existsSync(path.join(ROOT, name)))
    .map((name) => {
      const text = readFileSync(path.join(ROOT, name), 'utf8');
      return { name, text, lines: text.split('\n').length - 1 };
    });
}

function printSource(source: File[]): void {
  const imports = source.map((file) => ({ file, paths: listImports(file) }));
  const lines = linesOf(source);
  print('Source', [
    ['files', source.length],
    ['lines', lines],
    ['median lines', median(source.map((file) => file.lines))],
    ['mean lines', round(lines / source.length)],
    ['imports per 100 lines', round((100 * imports.flatMap(({ paths }) => paths).length) / lines)],
    ['files with one importer', countWithOneImporter(source, imports)],
  ]);
  print(
    `Files over ${FILE_MAX_LINES} lines`,
    source.filter((file) => file.lines > FILE_MAX_LINES).map((file) => [file.name, file.lines]),
  );
  const folders = Object.entries(Object.groupBy(source, ({ name }) => path.dirname(name)));
  print(
    `Folders of over ${FOLDER_MAX_FILES} files`,
    folders
      .map(([name, inFolder = []]): Row => [name, inFolder.length])
      .filter(([, count = 0]) => Number(count) > FOLDER_MAX_FILES),
  );
  const rooms = Object.entries(Object.groupBy(source, ({ name }) => name.split('/')[0] as string));
  const core = source.filter(({ name }) => !NO_CORE.includes(name.split('/')[0] as string));
  print('Rooms', [
    ['room', 'files', 'lines'],
    ...rooms.map(([room, inRoom = []]): Row => [room, inRoom.length, linesOf(inRoom)]),
    [`core (without ${NO_CORE.join(', ')})`, core.length, linesOf(core)],
  ]);
}

/** Lists what a file imports, as it is written there; `''` for a dynamic import whose path is computed. */
function listImports({ name, text }: File): string[] {
  if (!/\.tsx?$/.test(name)) return [];
  return IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, imported = '']) => imported));
}

function countWithOneImporter(source: File[], imports: { file: File; paths: string[] }[]): number {
  const importers = new Map<string, Set<string>>(source.map(({ name }) => [name, new Set()]));
  for (const { file, paths } of imports)
    for (const imported of paths.filter((text) => text.startsWith('.')))
      importers.get(path.join(path.dirname(file.name), imported))?.add(file.name);
  return [...importers.values()].filter(({ size }) => size === 1).length;
}

function printTests(inTest: File[]): void {
  const tests = inTest.filter(({ name }) => name.endsWith('.test.ts') || name.endsWith('.test.tsx'));
  print('Tests', [
    ['', 'files', 'lines'],
    ['test files', tests.length, linesOf(tests)],
    ['their helpers', inTest.length - tests.length, linesOf(inTest) - linesOf(tests)],
  ]);
  const cases = readCases();
  print('Provider cases', [
    ['cases', new Set(cases.map(({ id }) => id.split('.')[0])).size],
    ['with the members of each', cases.length],
  ]);
  for (const name of globSync('test-results/*.json', { cwd: ROOT })) {
    const { command, seconds, passed, failed, parts = {} } = readJson(name);
    if (command === undefined || seconds === undefined) continue;
    print(`Last run of ${command}`, [
      ['seconds', seconds],
      ['passed', passed],
      ['failed', failed],
      ...Object.entries(parts).map(([part, ofPart]): Row => [`seconds of ${part}`, Number(ofPart)]),
    ]);
  }
  if (!existsSync(path.join(ROOT, 'test/durations.json'))) return;
  const durations = Object.entries(readJson('test/durations.json')).map(
    ([file, ms]) => [file, Number(ms)] as const,
  );
  const longest = durations.toSorted(([, one], [, other]) => other - one).slice(0, 5);
  const total = durations.reduce((sum, [, ms]) => sum + ms, 0);
  print('Durations of test files, in seconds', [
    ...longest.map(([file, ms]): Row => [file, round(ms / 1_000)]),
    [`all ${durations.length} files together`, round(total / 1_000)],
  ]);
}

function printProse(pages: Prose[]): void {
  const shareOf = ({ sentences, long }: Prose) => (sentences === 0 ? 0 : (100 * long.length) / sentences);
  const rowOf = (prose: Prose): Row => [
    prose.page,
    prose.words,
    prose.sentences,
    `${shareOf(prose).toFixed(1)}%`,
  ];
  const all = {
    page: `all ${pages.length} pages`,
    words: pages.reduce((sum, { words }) => sum + words, 0),
    code: pages.reduce((sum, { code }) => sum + code, 0),
    sentences: pages.reduce((sum, { sentences }) => sum + sentences, 0),
    long: pages.flatMap(({ long }) => long),
  };
  const head = ['page', 'words', 'sentences', 'long'];
  print('Markdown', [head, ...pages.map(rowOf), rowOf(all)]);
  const worst = pages.toSorted((one, other) => shareOf(other) - shareOf(one)).slice(0, 5);
  print('Pages with the largest share of long sentences', [head, ...worst.map(rowOf)]);
}

function readJson(name: string) {
  return JSON.parse(readFileSync(path.join(ROOT, name), 'utf8'));
}

function linesOf(ofThem: File[]): number {
  return ofThem.reduce((sum, { lines }) => sum + lines, 0);
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Prints a title and rows below it, the first column to the left and the others to the right. */
function print(title: string, rows: Row[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => String(row[column]).length)),
  );
  const lines = rows.map(([name, ...values]) => {
    const cells = values.map((value, column) => String(value).padStart(widths[column + 1] ?? 0));
    return ['', String(name).padEnd(widths[0] ?? 0), ...cells].join('  ');
  });
  console.log([title, ...(lines.length > 0 ? lines : ['  none']), ''].join('\n'));
}

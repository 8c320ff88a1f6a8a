// A program that writes statements.sql, the statements that a release sends to PostgreSQL, by running its tests. The first
// argument is a checkout of the release with its packages, this one unless given; others are test files, whose statements are
// added when the file is of the same commit.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readStatements, STATEMENTS_FILE } from './read-statements.ts';

/** Tests that go through every request, every duty and every function of `db/`, in some minutes. */
const TESTS = [
  'api/auth',
  'api/calls',
  'api/flows',
  'api/management',
  'api/mcp',
  'api/runs',
  'api/test-runs',
  'api/webhooks',
  'cli',
  'db',
  'worker',
  'workflows',
].map((folder) => `test/${folder}`);

/** Partitions of days are made and dropped as time goes by: another database has others. */
const OF_PARTITION = /_\d{8}_\d{8}\b/;

const [checkout = path.resolve(import.meta.dirname, '../../..'), ...tests] = process.argv.slice(2);
const root = path.resolve(checkout);
const folder = mkdtempSync(path.join(tmpdir(), 'weir-statements-'));
const { status } = spawnSync(process.execPath, ['test/run.ts', ...(tests.length > 0 ? tests : TESTS)], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    WEIR_RECORD_CHECKOUT: root,
    WEIR_RECORD_FOLDER: folder,
    NODE_OPTIONS: `--import=${path.join(import.meta.dirname, 'capture-statements.ts')}`,
  },
});
if (status !== 0) console.error('Some tests failed: what they would have sent may be missing.');
const { head, statements } = readStatements();
const captured = readCaptured().filter((text) => !OF_PARTITION.test(text));
if (captured.length === 0) throw new Error('No statement was recorded: statements.sql is left as it was.');
const earlier = tests.length > 0 && head === describeRelease().trim() ? statements : [];
writeFileSync(
  STATEMENTS_FILE,
  describeRelease() +
    selectShapes([...earlier, ...captured])
      .map((text) => `\n${text};\n`)
      .join(''),
);
rmSync(folder, { recursive: true });

function describeRelease(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  const newest = readdirSync(path.join(root, 'db/migrations')).sort().at(-1)?.slice(0, 4);
  return `-- Statements of commit ${commit}, whose newest migration is ${newest}. Written by record-statements.ts; not for editing.\n`;
}

function readCaptured(): string[] {
  return readdirSync(folder).flatMap((name) =>
    readFileSync(path.join(folder, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) =>
        withoutComments(JSON.parse(line) as string)
          .replace(/\s+/g, ' ')
          .trim(),
      ),
  );
}

function withoutComments(text: string): string {
  return text.replace(/'[^']*'|--.*/g, (part) => (part.startsWith('--') ? '' : part));
}

/** Selects one statement of each shape, sorted: those that differ only in the length of lists of values are of one shape. */
function selectShapes(texts: string[]): string[] {
  const shortest = new Map<string, string>();
  for (const text of texts) {
    const shape = text
      .replace(/\$\d+/g, '$')
      .replace(/\$(, \$)+/g, '$')
      .replace(/(\([^()]*\$[^()]*\))(, \1)+/g, '$1');
    if (text.length < (shortest.get(shape)?.length ?? Number.POSITIVE_INFINITY)) shortest.set(shape, text);
  }
  return [...shortest.values()].sort();
}

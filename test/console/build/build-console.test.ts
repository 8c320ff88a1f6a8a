import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.join(import.meta.dirname, '../../..');
const run = promisify(execFile);

describe('building the console', () => {
  // A copy of a checkout that is not a git repository, with a small console of its own.
  const copy = mkdtempSync(path.join(tmpdir(), 'weir-console-'));
  const built = path.join(copy, 'dist/console');

  before(() => {
    const of = (name: string) => path.join(copy, name);
    for (const name of ['package.json', 'package-lock.json', 'console/build', 'console/vite.config.ts'])
      cpSync(path.join(ROOT, name), of(name), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules'), of('node_modules'));
    writeFileSync(of('console/index.html'), '<script type="module" src="./main.ts"></script>');
    writeMain('one');
  });
  after(() => rmSync(copy, { recursive: true }));

  function writeMain(text: string): void {
    writeFileSync(path.join(copy, 'console/main.ts'), `document.title = ${JSON.stringify(text)};`);
  }

  async function build(): Promise<string> {
    const { stdout } = await run(process.execPath, ['console/build/build.ts'], { cwd: copy });
    return stdout.trim();
  }

  function scripts(): string {
    const assets = path.join(built, 'assets');
    const names = readdirSync(assets).filter((name) => name.endsWith('.js'));
    return names.map((name) => readFileSync(path.join(assets, name), 'utf8')).join('\n');
  }

  it('builds once for the same sources, and again when a file or a package version has changed', async () => {
    assert.equal(await build(), 'built');
    assert.equal(await build(), 'up to date');
    writeMain('two');
    assert.equal(await build(), 'built');
    assert.match(scripts(), /two/);
    assert.doesNotMatch(scripts(), /one/);
    writeFileSync(path.join(copy, 'package-lock.json'), '{}');
    assert.equal(await build(), 'built');
  });

  it('keeps the last build when the sources cannot be built, and prints the reason last', async () => {
    writeMain('three');
    await build();
    writeFileSync(path.join(copy, 'console/main.ts'), 'import "./missing.ts";');
    const failure = await build().then(assert.fail, (error: { code: number; stderr: string }) => error);
    assert.equal(failure.code, 1);
    assert.equal(
      failure.stderr.trim().split('\n').at(-1),
      "console/main.ts:1:8: [UNRESOLVED_IMPORT] Could not resolve './missing.ts' in console/main.ts",
    );
    assert.match(scripts(), /three/);
    assert.deepEqual(readdirSync(path.dirname(built)), ['console']);
  });

  it('removes the files of a killed build, and none of a running one', async () => {
    const { pid: ended = 0 } = spawnSync(process.execPath, ['--version']);
    const of = (name: string) => path.join(path.dirname(built), name);
    const kept = [`console.${process.pid}`, 'console.mine'];
    for (const name of [`console.${ended}`, `console.${ended}.old`, ...kept]) mkdirSync(of(name));
    writeMain('left');
    await build();
    assert.deepEqual(readdirSync(path.dirname(built)).sort(), ['console', ...kept].sort());
    for (const name of kept) rmSync(of(name), { recursive: true });
  });

  it('lets two builds at once succeed, and leaves one complete', async () => {
    writeMain('four');
    const outcomes = await Promise.all([build(), build(), build()]);
    assert.ok(outcomes.includes('built'), outcomes.join());
    assert.match(scripts(), /four/);
    assert.deepEqual(readdirSync(path.dirname(built)), ['console']);
    assert.equal(await build(), 'up to date');
  });

  it('names the command that installs missing packages', async () => {
    rmSync(path.join(copy, 'node_modules'));
    writeMain('five');
    const failure = await build().then(assert.fail, (error: { stderr: string }) => error);
    assert.match(failure.stderr, /run npm ci --include=dev$/m);
  });
});

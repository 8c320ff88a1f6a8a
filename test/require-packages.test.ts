import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '..');

describe('without npm ci,', () => {
  let folder: string;
  let dependencies: { [name: string]: string };
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'weir-not-installed-'));
    for (const file of ['package.json', 'platform/process/require-packages.js', 'cli/weir.js'])
      await cp(path.join(ROOT, file), path.join(folder, file));
    ({ dependencies } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function install(name: string, version: string): Promise<void> {
    const into = path.join(folder, 'node_modules', name);
    await mkdir(into, { recursive: true });
    await writeFile(path.join(into, 'package.json'), JSON.stringify({ version }));
  }

  for (const script of ['start', 'test', 'api', 'worker', 'serve', 'migrate'])
    it(`npm run ${script} says that a package is missing`, () =>
      assert.rejects(run('npm', ['run', '--silent', script], { cwd: folder }), {
        code: 1,
        stderr: /^A package is missing, or of another version: \S+ [\d.]+\. Run npm ci\.$/m,
      }));

  it('a package of another version is named, and none when all are there', async () => {
    for (const [name, version] of Object.entries(dependencies)) await install(name, version);
    const check = () => run(process.execPath, ['platform/process/require-packages.js'], { cwd: folder });
    assert.equal((await check()).stderr, '');
    await install('koa', '2.0.0');
    await assert.rejects(check(), {
      stderr: `A package is missing, or of another version: koa ${dependencies.koa}. Run npm ci.\n`,
    });
  });

  it('weir says that a package is missing', async () => {
    await writeFile(path.join(folder, 'cli/weir.ts'), "import 'commander';");
    await assert.rejects(run(process.execPath, ['cli/weir.js', '--help'], { cwd: folder }), {
      code: 1,
      stderr: 'A package is missing. Run npm ci in the checkout.\n',
    });
  });
});

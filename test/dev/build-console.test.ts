import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildConsole } from '../../dev/build-console.ts';
import type { Progress } from '../../dev/progress.ts';

describe('building the console at npm start', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-console-build-'));
  after(() => rmSync(folder, { recursive: true }));

  /** Runs a program in the place of the build; returns the lines that a user would read. */
  async function build(
    program: string,
    { signal = new AbortController().signal, limitMs = 100_000, stateFolder = folder } = {},
  ): Promise<string[]> {
    const lines: string[] = [];
    const add = (line = '') => void lines.push(line);
    const task = { say: () => undefined, note: add, done: add, drop: () => undefined };
    const progress: Progress = { begin: () => task, line: add };
    const file = path.join(folder, 'build.ts');
    writeFileSync(file, program);
    await buildConsole(stateFolder, progress, signal, { program: file, limitMs });
    return lines;
  }

  it('says what the build says at its end', async () => {
    assert.deepEqual(await build('console.log("a warning\\nbuilt")'), ['built']);
  });

  it('says why it failed, where its log is and what to run, and lets the start go on', async () => {
    const [why = '', next = ''] = await build(
      'console.error("a.tsx: no such module"); process.exitCode = 1;',
    );
    assert.match(why, /a\.tsx: no such module/);
    assert.match(next, /console-build\.log.*npm run console:build/);
  });

  it('says nothing of a build that was ended because the start was stopped', async () => {
    assert.deepEqual(await build('process.exitCode = 1', { signal: AbortSignal.abort() }), []);
  });

  it('says how a build ended that said nothing, and nothing that an earlier one said', async () => {
    await build('console.log("up to date")');
    const [why] = await build('process.kill(process.pid, "SIGKILL"); setInterval(() => undefined, 1000);');
    assert.equal(why, 'it could not be built: the build was ended by SIGKILL');
    assert.equal(
      (await build('process.exitCode = 1'))[0],
      'it could not be built: the build ended with code 1',
    );
  });

  it('stops a build that takes too long', async () => {
    const [why] = await build('setInterval(() => undefined, 1000);', { limitMs: 1 });
    assert.match(why ?? '', /^it could not be built: the build was stopped: it took longer than/);
  });

  it('lets the start go on where nothing can be logged', async () => {
    const [why = ''] = await build('', { stateFolder: path.join(folder, 'build.ts') });
    assert.match(why, /^it could not be built: ENOTDIR.*npm run console:build/);
  });
});

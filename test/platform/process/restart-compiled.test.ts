import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PROGRAM = path.join(import.meta.dirname, 'print-compiled.ts');

describe('RESTART_COMPILED', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-compiled-'));
  after(() => rmSync(folder, { recursive: true }));

  /** Starts the program, and returns what it printed, with how often it began. */
  function start(env: NodeJS.ProcessEnv) {
    const { stdout, stderr, pid } = spawnSync(process.execPath, ['--expose-gc', PROGRAM, 'argument'], {
      encoding: 'utf8',
      env: { ...env, NODE_OPTIONS: `--import=data:text/javascript,console.log('began')` },
      timeout: 30_000,
    });
    assert.equal(stderr, '');
    const began = stdout.split('\n').filter((line) => line === 'began').length;
    const printed = JSON.parse(stdout.replaceAll('began\n', ''));
    assert.equal(printed.pid, pid);
    assert.deepEqual(printed.arguments, ['--expose-gc', 'argument']);
    assert(!printed.environment.includes('RESTART_COMPILED'));
    return { began, hasCompiler: printed.hasCompiler };
  }

  it('restarts a program that had to compile its code, in the same process', () => {
    const kept = { NODE_COMPILE_CACHE: path.join(folder, 'kept'), RESTART_COMPILED: '1' };
    assert.deepEqual(start(kept), { began: 2, hasCompiler: false });
    assert.deepEqual(start(kept), { began: 1, hasCompiler: false });
    const unasked = { NODE_COMPILE_CACHE: path.join(folder, 'other') };
    assert.deepEqual(start(unasked), { began: 1, hasCompiler: true });
  });

  it('does not restart a program whose compiled code cannot be kept', () => {
    const env = { NODE_COMPILE_CACHE: '/dev/null/none', RESTART_COMPILED: '1' };
    assert.deepEqual(start(env), { began: 1, hasCompiler: true });
  });
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PROGRAM = path.join(import.meta.dirname, 'print-compiled.ts');

describe('RESTART_COMPILED', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-compiled-'));
  after(() => rmSync(folder, { recursive: true }));

  /** Starts the program, and returns what it printed, with whether that was the process that was started. */
  function start(env: NodeJS.ProcessEnv) {
    const { stdout, stderr, pid } = spawnSync(process.execPath, ['--no-warnings', PROGRAM, 'argument'], {
      encoding: 'utf8',
      env,
    });
    assert.equal(stderr, '');
    const { pid: printed, ...rest } = JSON.parse(stdout);
    assert.equal(printed, pid);
    assert.deepEqual(rest.arguments, ['--no-warnings', 'argument']);
    return rest;
  }

  it('has a program whose code was not compiled yet start anew without the compiler, in the same process', () => {
    const kept = { NODE_COMPILE_CACHE: path.join(folder, 'kept') };
    assert.equal(start({ NODE_COMPILE_CACHE: path.join(folder, 'other') }).hasCompiler, true);
    for (const _start of ['first', 'second']) {
      const { hasCompiler, environment } = start({ ...kept, RESTART_COMPILED: '1' });
      assert.deepEqual({ hasCompiler, environment }, { hasCompiler: false, environment: Object.keys(kept) });
    }
  });

  it('starts a program anew once only where compiled code cannot be kept', () => {
    const { hasCompiler } = start({ NODE_COMPILE_CACHE: '/dev/null/none', RESTART_COMPILED: '1' });
    assert.equal(hasCompiler, true);
  });
});

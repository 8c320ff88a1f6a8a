import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

describe('npm start and npm test, before npm ci', () => {
  for (const script of ['start', 'test'])
    it(`npm ${script} says that the packages are not installed`, async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'weir-not-installed-'));
      try {
        await cp(path.join(import.meta.dirname, '../package.json'), path.join(folder, 'package.json'));
        await assert.rejects(run('npm', ['run', script], { cwd: folder }), {
          stderr: /The packages are not installed yet: run npm ci first\./,
        });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
});

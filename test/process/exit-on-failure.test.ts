import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..', '..');

describe('a program that cannot start', () => {
  for (const file of ['api/server.ts', 'worker/worker.ts', 'worker/serve.ts', 'process/migrate.ts'])
    it(`says why without a stack, and exits with 1: ${file}`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(ROOT, file)], {
        env: { DATABASE_URL: 'mysql://127.0.0.1/weir' },
        encoding: 'utf8',
      });
      assert.equal(status, 1, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, /DATABASE_URL/);
      assert.doesNotMatch(stderr, /\n\s+at |node:internal|\.ts:\d/);
    });
});

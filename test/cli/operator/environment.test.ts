import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { takeStartLock } from '../../../dev/processes/process-lock.ts';
import { fail, weirIn } from '../cli-harness.ts';

describe('weir beside a local npm start', () => {
  it('says that it is still starting until the service is up', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'weir-starting-'));
    try {
      const say = (...args: string[]) => fail(1, weirIn({ WEIR_STATE_DIR: folder }, args));
      const lock = takeStartLock(folder);
      assert.match(await say('operator', 'create', '--name', 'x'), /^npm start is still starting\. Repeat/);
      assert.match(await say('token'), /^npm start is still starting\. Repeat/);
      lock.setUrl('http://127.0.0.1:1');
      assert.match(await say('operator', 'create', '--name', 'x'), / is not set, and /);
      lock.release();
      assert.match(await say('token'), /^No service is known\. .*run npm start first/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

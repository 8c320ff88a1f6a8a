import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import { startChild } from '../../../dev/processes/child.ts';
import { waitUntil } from '../../wait-until.ts';

const GIB = 1024 ** 3;

describe('the log of a process', () => {
  let stateFolder: string;
  beforeEach(() => {
    stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-log-'));
  });
  afterEach(() => rmSync(stateFolder, { recursive: true }));

  /** Starts a process that says `begun`, and `ended` when it is stopped. */
  async function begin() {
    const child = startChild({
      stateFolder,
      name: 'talker',
      order: 1,
      command: 'sh',
      args: ['-c', 'trap "echo; echo ended; exit" TERM; echo begun; while :; do sleep 0.1; done'],
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 10_000,
    });
    await waitUntil(() => child.logTail() === 'begun');
    return child;
  }

  it('starts anew once it has grown large, while the process runs', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      const child = await begin();
      truncateSync(child.logFile, 11 * 1024 ** 2);
      mock.timers.tick(10_000);
      assert.equal(statSync(child.logFile).size, 0);
      await child.stop();
      assert.equal(child.logTail(), '\nended');
    } finally {
      mock.timers.reset();
    }
  });

  it('is read at its end alone, however large it is', async () => {
    const child = await begin();
    truncateSync(child.logFile, 3 * GIB);
    await child.stop();
    assert.match(child.logTail(), /\nended$/);
  });

  it('that somebody has removed keeps nobody from ending the process', async () => {
    const child = await begin();
    rmSync(child.logFile);
    assert.match(child.logTail(), /^The log cannot be read: .*ENOENT/);
    await child.stop();
  });
});

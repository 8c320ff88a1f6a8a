import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { testWorkflowBundle } from '../workflow-bundle.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const COUNT = path.join(import.meta.dirname, 'watchdog', 'count-watchdogs.ts');
const REPLAY = path.join(import.meta.dirname, 'watchdog', 'replay-in-threads.ts');
const PRELOAD = path.join(ROOT, 'worker', 'disable-workflow-watchdog.ts');
const HISTORY = path.join(ROOT, 'test', 'histories', 'loops.json');

// Fails when an upgrade of the SDK guards its workflow threads in another way: then the preload does nothing.
describe('the preload that disables the workflow watchdog', () => {
  let bundle: string;
  before(async () => {
    ({ codePath: bundle } = await testWorkflowBundle());
  });

  /** Replays a run in workflow threads and returns which guards the SDK armed for it. */
  async function guardsOfReplay(preloads: string[]): Promise<string[]> {
    const imports = preloads.flatMap((preload) => ['--import', preload]);
    const { stdout } = await promisify(execFile)(process.execPath, [...imports, REPLAY, bundle, HISTORY]);
    return [...new Set(stdout.trim().split('\n'))].sort();
  }

  it('is needed: without it the SDK arms timers and a promise hook', async () => {
    assert.deepEqual(await guardsOfReplay([COUNT]), ['call', 'call with timer', 'promise hook']);
  });

  it('leaves neither, and the run replays', async () => {
    assert.deepEqual(await guardsOfReplay([COUNT, PRELOAD]), ['call']);
  });
});
